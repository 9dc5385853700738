// Colours of the style sheet: contrast by WCAG, and how far status colours stay apart for colour-blind eyes (CIEDE2000
// after the simulation of Machado et al. 2009).

import { describe, expect, test } from "vitest";

import CSS from "./styles.css?raw";

type Vector = [number, number, number];

const THEMES = { light: block(":root {"), dark: block(':root[data-theme="dark"] {') };
const STATUS = ["ok", "run", "warn", "fail", "idle"];
const SIGHTS: Record<string, [Vector, Vector, Vector]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function block(start: string): Record<string, string> {
  const from = CSS.indexOf(start) + start.length;
  const text = CSS.slice(from, CSS.indexOf("}", from));
  return Object.fromEntries(
    [...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value]),
  );
}

function linear(hex: string): Vector {
  const parts = [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return parts as Vector;
}

function contrast(one: string, other: string): number {
  const [light, dark] = [one, other].map((hex) => luminance(linear(hex))).sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance([r, g, b]: Vector): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function lab([r, g, b]: Vector): Vector {
  const xyz = [
    (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
    0.2126729 * r + 0.7151522 * g + 0.072175 * b,
    (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883,
  ].map((value) => (value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116)) as Vector;
  return [116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])];
}

function seen(hex: string, sight: [Vector, Vector, Vector]): Vector {
  const [r, g, b] = linear(hex);
  return lab(sight.map(([x, y, z]) => Math.min(1, Math.max(0, x * r + y * g + z * b))) as Vector);
}

/** CIEDE2000. */
function distance([l1, a1, b1]: Vector, [l2, a2, b2]: Vector): number {
  const rad = Math.PI / 180;
  const c = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)));
  const [x1, x2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(x1, b1), Math.hypot(x2, b2)];
  const hue = (b: number, x: number) => (b === 0 && x === 0 ? 0 : (Math.atan2(b, x) / rad + 360) % 360);
  const [h1, h2] = [hue(b1, x1), hue(b2, x2)];
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad);
  const h =
    c1 * c2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
  const [l, cm] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const t =
    1 -
    0.17 * Math.cos((h - 30) * rad) +
    0.24 * Math.cos(2 * h * rad) +
    0.32 * Math.cos((3 * h + 6) * rad) -
    0.2 * Math.cos((4 * h - 63) * rad);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * cm, 1 + 0.015 * cm * t];
  const rt = -2 * Math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7)) * Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * rad);
  const [dl, dc, dhs] = [(l2 - l1) / sl, (c2 - c1) / sc, dh / sh];
  return Math.sqrt(dl ** 2 + dc ** 2 + dhs ** 2 + rt * dc * dhs);
}

describe.each(Object.entries(THEMES))("%s", (_theme, colours) => {
  const of = (name: string) => {
    const found = colours[name];
    if (found === undefined) throw new Error(`there is no colour ${name}`);
    return found;
  };

  test.each(["page", "panel", "hover", "accent-tint"])("text reads on %s", (ground) => {
    expect(contrast(of("ink"), of(ground))).toBeGreaterThanOrEqual(7);
    expect(contrast(of("soft"), of(ground))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of("accent"), of(ground))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(STATUS)("%s reads on page, panel, hover and its tint", (status) => {
    for (const ground of ["page", "panel", `${status}-tint`])
      expect(contrast(of(status), of(ground))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of("ink"), of(`${status}-tint`))).toBeGreaterThanOrEqual(7);
    expect(contrast(of("soft"), of(`${status}-tint`))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of("accent"), of(`${status}-tint`))).toBeGreaterThanOrEqual(4.5);
  });

  test("controls have a border that can be seen, and buttons a label", () => {
    expect(contrast(of("control"), of("page"))).toBeGreaterThanOrEqual(3);
    expect(contrast(of("on-accent"), of("accent"))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(Object.entries(SIGHTS))("states differ for %s sight", (_sight, matrix) => {
    for (const [index, one] of STATUS.entries()) {
      for (const other of STATUS.slice(index + 1)) {
        expect(distance(seen(of(one), matrix), seen(of(other), matrix)), `${one} and ${other}`).toBeGreaterThan(10);
      }
    }
  });
});

test("CIEDE2000 as its authors' test data has it", () => {
  expect(distance([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 3);
  expect(distance([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387])).toBeCloseTo(1.2644, 3);
});

/** Sizes of type, space and corners that are no step of the scale, such as `text-[13px]`. */
const OFF_SCALE =
  /(?<![\w-])-?(?:text|leading|tracking|[pm][xytrblse]?|gap(?:-[xy])?|space-[xy]|rounded(?:-\w+)?)-\[[\d.]+\w+\]/g;
/** Multiples of 4 pixels that are neither whole nor half, such as `w-0.75`. */
const OFF_STEP = /(?<![\w.-])-?[a-z]+(?:-[a-z]+)*-\d+\.(?!5(?!\d))\d+/g;

test("every size of type and space is a step of the scale", () => {
  const sources: Record<string, string> = import.meta.glob("../**/*.tsx", {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const found = Object.entries(sources).flatMap(([file, text]) =>
    [OFF_SCALE, OFF_STEP].flatMap((off) => (text.match(off) ?? []).map((size) => `${file}: ${size}`)),
  );
  expect(Object.keys(sources).length).toBeGreaterThan(100);
  // How far a thing stays from an edge of the window is no step of a scale.
  expect(found.filter((one) => !one.endsWith("vh]"))).toEqual([]);
});
