import { memo, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";

import { useLatest } from "../../../lib/hooks/useLatest.ts";
import { clockTime, duration } from "../../../lib/text/format.ts";
import type { Axis, Stretch } from "./axis.ts";
import { GRID, LANE, PACK } from "./grid.ts";
import type { Tick } from "./ticks.ts";

/** A pointer that moved less has clicked. */
const DRAG_PX = 5;
/** A narrower selection, in per cent of the width, is a slip. */
const NARROWEST = 1;

/** The labels of the ticks, above the lanes. */
export function Ruler({ ticks }: { ticks: readonly Tick[] }): ReactNode {
  return (
    <div aria-hidden="true" className={`${GRID} h-5 text-meta text-soft max-md:!hidden`}>
      <span className="col-span-3" />
      <span className={PACK} />
      <span className="relative self-stretch">
        {ticks.map(({ place, label }) => (
          <span
            key={place}
            // A narrow lane has room for two labels, or for every other one.
            className={`absolute bottom-0 border-l border-control pl-1 leading-4 whitespace-nowrap ${ticks.length > 2 ? "@max-2xl:even:hidden" : ""}`}
            style={{ left: `${place}%` }}
          >
            {label}
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

/** Lines of the ticks and of the pauses that are cut short, behind the bars. */
export function Lines({ ticks, breaks }: { ticks: readonly Tick[]; breaks: readonly number[] }): ReactNode {
  return (
    <Overlay>
      {ticks.map(({ place }) => (
        <span key={place} className="absolute inset-y-0 border-l border-line" style={{ left: `${place}%` }} />
      ))}
      {breaks.map((place) => (
        <span
          key={`break ${place}`}
          className="absolute inset-y-0 border-l-2 border-dotted border-control"
          style={{ left: `${place}%` }}
        />
      ))}
    </Overlay>
  );
}

/** Covers the lanes of all rows. */
function Overlay({
  lane,
  look = "",
  children,
}: {
  lane?: RefObject<HTMLSpanElement | null>;
  look?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <div
      aria-hidden="true"
      className={`${GRID} pointer-events-none absolute inset-0 !items-stretch overflow-x-clip max-md:!hidden ${look}`}
    >
      <span className="col-span-3" />
      <span className={PACK} />
      <span ref={lane} className={`relative ${LANE}`}>
        {children}
      </span>
      <span />
    </div>
  );
}

interface Props {
  /** What holds the lanes and hears the pointer. */
  area: RefObject<HTMLElement | null>;
  axis: Axis;
  /** The moment that the readout counts from. */
  origin: number;
  onZoom: (extent: Stretch) => void;
}

/** The time under the pointer, and the stretch that it drags over, to zoom to. */
export const Crosshair = memo(function Crosshair({ area, axis, origin, onZoom }: Props): ReactNode {
  const lane = useRef<HTMLSpanElement>(null);
  const [place, setPlace] = useState<number | null>(null);
  const [begun, setBegun] = useState<number | null>(null);
  const latest = useLatest({ axis, onZoom });
  useEffect(() => {
    const element = area.current;
    if (element === null) return undefined;
    let pressed: { x: number; place: number; drags: boolean } | null = null;

    function placeOf(event: PointerEvent): number | null {
      const box = lane.current?.getBoundingClientRect();
      return box === undefined || box.width === 0 ? null : ((event.clientX - box.left) / box.width) * 100;
    }
    function release(): void {
      pressed = null;
      setBegun(null);
    }
    const listeners = {
      pointerdown: (event: PointerEvent) => {
        const at = placeOf(event);
        // A finger scrolls.
        if (at === null || at < 0 || at > 100 || event.button !== 0 || event.pointerType === "touch") return;
        pressed = { x: event.clientX, place: at, drags: false };
      },
      pointermove: (event: PointerEvent) => {
        const at = placeOf(event);
        if (pressed !== null && !pressed.drags && Math.abs(event.clientX - pressed.x) > DRAG_PX) {
          pressed.drags = true;
          // The click that follows then goes to the area, not to the row under the pointer.
          element.setPointerCapture(event.pointerId);
          setBegun(pressed.place);
        }
        const drags = pressed?.drags ?? false;
        setPlace(at === null || (!drags && (at < 0 || at > 100)) ? null : Math.min(100, Math.max(0, at)));
      },
      pointerup: (event: PointerEvent) => {
        const at = placeOf(event);
        if (pressed?.drags && at !== null) {
          const [from, to] = [pressed.place, Math.min(100, Math.max(0, at))].sort((one, other) => one - other);
          const shown = latest.current;
          if (from !== undefined && to !== undefined && to - from >= NARROWEST)
            shown.onZoom({ from: shown.axis.momentAt(from), to: shown.axis.momentAt(to) });
        }
        release();
      },
      pointercancel: release,
      pointerleave: () => setPlace(null),
    };
    const entries = Object.entries(listeners) as [keyof typeof listeners, (event: PointerEvent) => void][];
    for (const [name, listener] of entries) element.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of entries) element.removeEventListener(name, listener);
    };
  }, [area, latest]);

  if (place === null) return <Overlay lane={lane}>{null}</Overlay>;
  const moment = axis.momentAt(place);
  return (
    // Its readout covers the ruler.
    <Overlay lane={lane} look="z-2">
      {begun === null ? null : (
        <span
          className="absolute inset-y-0 bg-accent/15"
          style={{ left: `${Math.min(begun, place)}%`, width: `${Math.abs(place - begun)}%` }}
        />
      )}
      <span className="absolute inset-y-0 border-l border-accent" style={{ left: `${place}%` }} />
      <span
        data-readout=""
        className="sticky top-9 -mt-5 block w-fit rounded bg-ink px-1.5 text-meta whitespace-nowrap text-page"
        style={{ marginLeft: `${place}%`, transform: `translateX(-${place}%)` }}
      >
        {begun === null
          ? `${duration((moment - origin) / 1000)} · ${clockTime(moment)}`
          : duration(Math.abs(moment - axis.momentAt(begun)) / 1000)}
      </span>
    </Overlay>
  );
});
