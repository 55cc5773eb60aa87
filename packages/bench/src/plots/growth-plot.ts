/**
 * How costs grow: one curve for each operation, both axes logarithmic, so that a straight line
 * rising by one decade in each decade is linear, and a flat one constant. Pure.
 */
import { curve, dot, type Shape, svgDocument, text } from "./svg.ts";

/** One operation. */
export interface CostCurve {
  readonly name: string;
  readonly points: readonly { readonly size: number; readonly cost: number }[];
}

/** What is drawn on the axes. */
export interface GrowthPlotOptions {
  readonly title: string;
  readonly sizeLabel: string;
  /** A cost as text. */
  readonly costLabel: (cost: number) => string;
}

interface Axes {
  readonly x: Scale;
  readonly y: Scale;
}

interface Scale {
  readonly least: number;
  readonly most: number;
  /** Where a value lies on the axis. */
  readonly at: (value: number) => number;
}

const width = 860;
const height = 440;
const box = { left: 90, right: 640, top: 48, bottom: 384 } as const;

/** Lengths of dashes and gaps, one set for each curve. */
const dashSets: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [12, 4, 2, 4], [16, 6]];
const nameHeight = 16;

/** The picture; curves without two points have a dot or nothing. */
export function growthPlot(curves: readonly CostCurve[], options: GrowthPlotOptions): string {
  const points = curves.flatMap(({ points: all }) => all).filter(isSound);
  const x = scaleOf(
    points.map(({ size }) => size),
    [box.left, box.right],
  );
  const y = scaleOf(
    points.map(({ cost }) => cost),
    [box.bottom, box.top],
  );
  return svgDocument(options.title, { width, height }, [
    text(options.title, { x: 12, y: 24, isStrong: true }),
    ...grid(x, y, options),
    ...curves.flatMap((one, place) => curveShapes(one, { x, y }, dashesOf(place))),
    ...names(curves, { x, y }),
    text(options.sizeLabel, { x: box.right, y: box.bottom + 44, ink: "faint", anchor: "end" }),
  ]);
}

function curveShapes(
  { points }: CostCurve,
  { x, y }: Axes,
  dashes: readonly number[],
): readonly Shape[] {
  const places = points.filter(isSound).map(({ size, cost }) => [x.at(size), y.at(cost)] as const);
  return [curve("ours", places, dashes), ...places.map((place) => dot("ours", place))];
}

/**
 * The names at the right, each with a line from the end of its curve, moved apart where curves end
 * close to each other.
 */
function names(curves: readonly CostCurve[], { x, y }: Axes): readonly Shape[] {
  const ends = curves
    .flatMap(({ name, points }, place) => {
      const last = points.filter(isSound).at(-1);
      return last === undefined ? [] : [{ name, place, x: x.at(last.size), y: y.at(last.cost) }];
    })
    .sort((a, b) => a.y - b.y);
  let above = -Infinity;
  return ends.flatMap((end, rank) => {
    // So that those below it have room, too.
    const lowest = box.bottom - (ends.length - 1 - rank) * nameHeight;
    above = Math.max(Math.min(end.y, lowest), above + nameHeight);
    const leader = [[end.x, end.y] as const, [box.right + 14, above] as const];
    return [
      curve("faint", leader, dashesOf(end.place)),
      text(end.name, { x: box.right + 20, y: above + 4 }),
    ];
  });
}

function dashesOf(place: number): readonly number[] {
  return dashSets[place % dashSets.length] ?? [];
}

function grid(x: Scale, y: Scale, options: GrowthPlotOptions): readonly Shape[] {
  return [
    ...decades(x).flatMap((size) => [
      curve("grid", [
        [x.at(size), box.top],
        [x.at(size), box.bottom],
      ]),
      text(size.toLocaleString("en-US"), {
        x: x.at(size),
        y: box.bottom + 20,
        ink: "faint",
        anchor: "middle",
      }),
    ]),
    ...decades(y).flatMap((cost) => [
      curve("grid", [
        [box.left, y.at(cost)],
        [box.right, y.at(cost)],
      ]),
      text(options.costLabel(cost), {
        x: box.left - 8,
        y: y.at(cost) + 4,
        ink: "faint",
        anchor: "end",
      }),
    ]),
  ];
}

/** The powers of ten between which all values lie. */
function scaleOf(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const logs = values.map(Math.log10);
  const least = Math.floor(Math.min(...logs));
  const most = Math.max(least + 1, Math.ceil(Math.max(...logs)));
  const at = (value: number): number =>
    from + ((to - from) * (Math.log10(value) - least)) / (most - least);
  return { least, most, at };
}

function decades({ least, most }: Scale): readonly number[] {
  if (!Number.isFinite(least) || !Number.isFinite(most)) return [];
  return Array.from({ length: most - least + 1 }, (_, step) => 10 ** (least + step));
}

function isSound({ size, cost }: { readonly size: number; readonly cost: number }): boolean {
  return size > 0 && cost > 0 && Number.isFinite(size) && Number.isFinite(cost);
}
