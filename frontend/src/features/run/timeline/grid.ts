// The columns of the timeline: number, state, name, pack, lane, duration. Ruler and rows share them, so that places in
// their lanes are below one another. A pack's name is usually the longest text.

export const GRID =
  "grid grid-cols-[1.5rem_1rem_minmax(6rem,1fr)_minmax(5rem,2fr)_4.5rem] items-center gap-2 px-2 " +
  "@md:grid-cols-[1.5rem_1rem_minmax(5rem,4fr)_clamp(6.5rem,29cqi,10rem)_minmax(4rem,5fr)_4.5rem] " +
  "max-md:grid-cols-[1.25rem_1rem_1fr_auto]";
/** Only where there is room. */
export const PACK = "hidden @md:block";
/** A phone has a list with states and durations. */
export const LANE = "max-md:hidden";
export const ROW = "h-9 w-full -outline-offset-2 text-left text-dense";
