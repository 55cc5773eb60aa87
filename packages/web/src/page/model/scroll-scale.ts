/**
 * Between the scroll position of an element and the rows in it. Browsers limit the height of an
 * element (Firefox to about 17.9 million px), so a longer list gets a shorter scroll range, and
 * positions in it are proportional.
 */

/** Far enough below the limits of all browsers. */
export const scrollHeightMax = 8_000_000;

export interface ScrollScale {
  readonly rowCount: number;
  readonly rowHeight: number;
  readonly viewHeight: number;
}

/** The rows to draw, and where the first of them is relative to the top of the view. */
export interface DrawnRows {
  readonly first: number;
  readonly end: number;
  readonly shift: number;
}

/** The height of all rows, which no element has. */
export function contentHeight({ rowCount, rowHeight }: ScrollScale): number {
  return rowCount * rowHeight;
}

/** The height of the scrolled element. */
export function elementHeight(scale: ScrollScale): number {
  return Math.min(contentHeight(scale), scrollHeightMax);
}

export function isScaled(scale: ScrollScale): boolean {
  return contentHeight(scale) > scrollHeightMax;
}

/** The offset into the content at which the view is when the element is scrolled to `top`. */
export function offsetOfScroll(scale: ScrollScale, top: number): number {
  const range = elementHeight(scale) - scale.viewHeight;
  if (range <= 0) return 0;
  return (clamp(top, range) / range) * (contentHeight(scale) - scale.viewHeight);
}

/** The inverse of `offsetOfScroll`. */
export function scrollOfOffset(scale: ScrollScale, offset: number): number {
  const range = contentHeight(scale) - scale.viewHeight;
  if (range <= 0) return 0;
  return (clamp(offset, range) / range) * (elementHeight(scale) - scale.viewHeight);
}

/** The rows that a view at `offset` shows, with some more on both sides. */
export function drawnRows(scale: ScrollScale, offset: number, overscan: number): DrawnRows {
  const { rowCount, rowHeight, viewHeight } = scale;
  const first = Math.max(0, Math.floor(offset / rowHeight) - overscan);
  const end = Math.min(rowCount, Math.ceil((offset + viewHeight) / rowHeight) + overscan);
  return { first: Math.min(first, end), end, shift: first * rowHeight - offset };
}

/** The offset that shows a row: unchanged if it is in view, else the nearest, or centred. */
export function offsetOfRow(
  scale: ScrollScale,
  row: number,
  { offset, isCentred }: { readonly offset: number; readonly isCentred: boolean },
): number {
  const { rowHeight, viewHeight } = scale;
  const top = row * rowHeight;
  const last = top + rowHeight - viewHeight;
  if (offset <= top && offset >= last) return offset;
  const range = Math.max(0, contentHeight(scale) - viewHeight);
  if (isCentred) return clamp(top - (viewHeight - rowHeight) / 2, range);
  return clamp(offset > top ? top : last, range);
}

function clamp(value: number, max: number): number {
  return Math.max(0, Math.min(value, max));
}
