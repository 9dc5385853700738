import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useId,
  useRef,
  useState,
} from "react";

const KEY = "packline.run.split";
/** Per cent of the width that the steps have. */
const USUAL = 50;
const LEAST = 30;
const MOST = 70;
const STRIDE = 2;

function within(share: number): number {
  return Math.min(MOST, Math.max(LEAST, share));
}

function keptShare(): number {
  const share = Number(localStorage.getItem(KEY) ?? USUAL);
  return Number.isFinite(share) ? within(share) : USUAL;
}

interface Props {
  steps: ReactNode;
  /** In a narrow window before the steps, in a wide one above the inspector. */
  first: ReactNode;
  inspector: ReactNode;
}

/**
 * The steps beside the inspector, each with its own scroll bar; one above the other in a narrow window, where the
 * steps keep to a part of its height so that the inspector is always near.
 */
export function Split({ steps, first, inspector }: Props): ReactNode {
  const id = useId();
  const whole = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(keptShare);

  function resize(to: number): void {
    const next = Math.round(within(to) * 10) / 10;
    setShare(next);
    if (next === USUAL) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, String(next));
  }

  function press(event: KeyboardEvent): void {
    const next = { ArrowLeft: share - STRIDE, ArrowRight: share + STRIDE, Home: LEAST, End: MOST }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    resize(next);
  }

  function drag(event: PointerEvent<HTMLElement>): void {
    const box = whole.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0 || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    resize(((event.clientX - box.left) / box.width) * 100);
  }

  return (
    <div
      ref={whole}
      style={{ "--share": share } as CSSProperties}
      className="flex flex-col lg:grid lg:min-h-80 lg:flex-1 lg:grid-cols-[minmax(0,calc(var(--share)*1%))_auto_minmax(0,1fr)] lg:grid-rows-[minmax(0,1fr)] lg:border-t lg:border-line"
    >
      <div
        id={id}
        data-pane="steps"
        className="@container relative max-lg:order-2 max-lg:max-h-[max(40svh,12rem)] overflow-y-auto"
      >
        {steps}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a splitter is moved */}
      <div
        role="separator"
        aria-label="Width of the steps"
        aria-orientation="vertical"
        aria-controls={id}
        aria-valuenow={Math.round(share)}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it takes the arrow keys
        tabIndex={0}
        title="Drag to resize, double-click to reset"
        onKeyDown={press}
        onPointerDown={(event) => {
          if (event.button === 0) event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={drag}
        onDoubleClick={() => resize(USUAL)}
        className="group flex w-6 cursor-col-resize touch-none justify-center -outline-offset-2 max-lg:hidden"
      >
        <span className="w-px bg-line group-hover:w-1 group-hover:bg-control group-focus-visible:w-1 group-focus-visible:bg-accent" />
      </div>
      <div data-pane="inspector" className="@container max-lg:contents lg:relative lg:overflow-y-auto lg:pt-4 lg:pb-6">
        {first === null ? null : <div className="max-lg:order-1 max-lg:mb-4 lg:mb-6">{first}</div>}
        <div className="min-w-0 max-lg:order-3 max-lg:mt-5">{inspector}</div>
      </div>
    </div>
  );
}
