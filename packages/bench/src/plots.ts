/**
 * The pictures of reports, as SVG that follows the light or dark mode of its reader. Scales are
 * logarithmic, and what is no number is not drawn. The only file that imports `echarts`.
 */
import type { EChartsOption } from "echarts";
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { SubjectRole } from "./bench-case.ts";
import type { GrowthSample, OperationGrowth } from "./growth/growth-report.ts";
import { type CaseReport, formatMs, formatNumber, isRate, type SubjectReport } from "./report.ts";

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Colours in the light and in the dark mode. */
const inks: Readonly<Record<"text" | "faint" | "grid" | SubjectRole, readonly [string, string]>> = {
  text: ["#1f2328", "#f0f6fc"],
  faint: ["#59636e", "#9198a1"],
  grid: ["#d1d9e0", "#3d444d"],
  ours: ["#0969da", "#4493f8"],
  baseline: ["#818b98", "#656c76"],
  peer: ["#bc4c00", "#db6d28"],
};

const width = 860;
const rowHeight = 24;
/** Further from one there is no measurement, and soon no number. */
const decadesMax = 300;
/** Lengths of dashes and gaps, that distinguish curves. */
const dashes: readonly ("solid" | number[])[] = ["solid", [8, 4], [2, 3], [12, 4, 2, 4], [16, 8]];

/** What a cost was at several sizes, as pairs of both. */
export interface CostCurve {
  readonly name: string;
  readonly points: readonly (readonly [size: number, cost: number])[];
}

/** The bars of one case: the cost of each subject; of a peer that failed, the reason instead. */
export function casePlot(report: CaseReport): string {
  const { name, question, subjects, failedPeers, comparedBy = "time" } = report;
  const costs = subjects.map((subject) => costOf(report, subject));
  const rows = [
    ...subjects.map(({ name: subject, role }, i) => {
      const cost = costs[i] ?? Number.NaN;
      return { subject, role, share: shareOf(cost, costs), note: shownCost(report, cost) };
    }),
    ...failedPeers.map(({ name: subject, reason }) => {
      const [note] = /^[^:]*(?:: .{0,50})?/.exec(reason) ?? [reason];
      return { subject, role: "failed", share: 0, note } as const;
    }),
  ];
  const better = `${comparedBy}, ${isRate(comparedBy) ? "more" : "less"} is better; logarithmic`;
  return draw(`${name}: ${question}`, 92 + rows.length * rowHeight, {
    title: [
      { text: guarded(name), subtext: guarded(question), left: 8, top: 4, itemGap: 6 },
      { subtext: better, left: 8, bottom: 0 },
    ],
    grid: { left: 380, right: 150, top: 56, bottom: 36 },
    xAxis: { type: "value", min: 0, max: 1, show: false },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map(({ subject }) => guarded(subject)),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: inkOf("text"), width: 360, overflow: "truncate", interval: 0 },
    },
    series: {
      type: "bar",
      barWidth: rowHeight - 8,
      label: {
        show: true,
        position: "right",
        formatter: ({ dataIndex }) => guarded(rows[dataIndex]?.note ?? ""),
      },
      data: rows.map(({ role, share }) => ({
        value: share,
        itemStyle: { color: inkOf(role === "failed" ? "peer" : role) },
        label: { color: inkOf(role === "failed" ? "peer" : "text") },
      })),
    },
  });
}

/** A curve for each operation: a line that rises by a decade in each decade is linear. */
export function growthPlot(
  title: string,
  curves: readonly CostCurve[],
  { sizeName, costText }: GrowthLabels,
): string {
  const sound = curves
    .map(({ name, points }) => ({ name, logs: points.map(logsOf).filter(isSound) }))
    .sort((a, b) => (b.logs.at(-1)?.[1] ?? 0) - (a.logs.at(-1)?.[1] ?? 0));
  const points = sound.flatMap(({ logs }) => logs);
  return draw(title, 440, {
    title: { text: title, left: 8, top: 4 },
    grid: { left: 90, right: 230, top: 48, bottom: 56 },
    legend: {
      orient: "vertical",
      left: 640,
      top: "middle",
      itemWidth: 48,
      itemHeight: 6,
      textStyle: { color: inkOf("text") },
    },
    xAxis: {
      ...decades(points.map(([size]) => size)),
      axisLabel: { color: inkOf("faint"), formatter: (log: number) => formatNumber(10 ** log) },
      name: sizeName,
      nameLocation: "middle",
      nameGap: 32,
      nameTextStyle: { color: inkOf("faint") },
    },
    yAxis: {
      ...decades(points.map(([, cost]) => cost)),
      axisLabel: { color: inkOf("faint"), formatter: (log: number) => costText(10 ** log) },
    },
    series: sound.map(({ name, logs }, i) => ({
      type: "line",
      name: guarded(name),
      data: logs,
      symbol: "circle",
      symbolSize: 6,
      color: inkOf("ours"),
      lineStyle: { type: dashes[i % dashes.length] ?? "solid" },
    })),
  });
}

/** The pictures of a report on growth, by the names of their files. */
export function growthPlots(
  operations: readonly OperationGrowth[],
): Readonly<Record<string, string>> {
  const curvesOf = (
    wanted: OperationGrowth["unit"],
    read: (sample: GrowthSample) => number,
  ): readonly CostCurve[] =>
    operations
      .filter(({ unit }) => unit === wanted)
      .map(({ operation: name, samples }) => ({
        name,
        points: samples.map((sample) => [sample.size, read(sample)] as const),
      }));
  return {
    "growth-time.svg": growthPlot(
      "Time of one operation against the entries of the log",
      curvesOf("entries", ({ ms }) => ms),
      { sizeName: "entries", costText: formatMs },
    ),
    "growth-memory.svg": growthPlot(
      "Peak memory of the process against the entries of the log",
      curvesOf("entries", ({ peakRssBytes }) => peakRssBytes / 1e6),
      { sizeName: "entries", costText: (megabytes) => `${formatNumber(megabytes)} MB` },
    ),
    "growth-list.svg": growthPlot(
      "Time of a list against the sessions of the directory",
      curvesOf("files", ({ ms }) => ms),
      { sizeName: "sessions", costText: formatMs },
    ),
  };
}

/** What is written along the axes. */
export interface GrowthLabels {
  readonly sizeName: string;
  readonly costText: (cost: number) => string;
}

/** An axis of logarithms that shows the powers of ten between which all values lie. */
function decades(logs: readonly number[]): object {
  const min = Math.floor(Math.min(...logs, decadesMax));
  const max = Math.max(min + 1, Math.ceil(Math.max(...logs, -decadesMax)));
  const splitLine = { lineStyle: { color: inkOf("grid") } };
  const line = { show: false };
  return { type: "value", min, max, minInterval: 1, splitLine, axisLine: line, axisTick: line };
}

/** Whether none is of zero, of what is below it, or of no number. */
function isSound(logs: readonly number[]): boolean {
  return logs.every((log) => Math.abs(log) < decadesMax);
}

function logsOf([size, cost]: readonly [number, number]): [number, number] {
  return [Math.log10(size), Math.log10(cost)];
}

function costOf({ comparedBy }: CaseReport, { wallMs, figures }: SubjectReport): number {
  return (comparedBy === undefined ? wallMs : figures[comparedBy])?.median ?? Number.NaN;
}

function shownCost({ comparedBy }: CaseReport, cost: number): string {
  if (!Number.isFinite(cost)) return "no figure";
  return comparedBy === undefined ? formatMs(cost) : `${formatNumber(cost)} ${comparedBy}`;
}

/** The length of a bar: from a tenth for the least cost to one for the most. */
function shareOf(cost: number, costs: readonly number[]): number {
  if (!(cost > 0) || !Number.isFinite(cost)) return 0;
  const logs = costs.filter((value) => value > 0 && Number.isFinite(value)).map(Math.log);
  const [least, most] = [Math.min(...logs), Math.max(...logs)];
  return most === least ? 1 : 0.1 + (0.9 * (Math.log(cost) - least)) / (most - least);
}

// The library looks texts up in plain objects: "__proto__" must not be one. Taken out in the end.
const guard = "\uffff";

function guarded(text: string): string {
  return `${text}${guard}`;
}

/** A colour that is defined for both modes. */
function inkOf(ink: keyof typeof inks): string {
  return `var(--${ink})`;
}

/** `title` is what a screen reader says of the picture. */
function draw(title: string, height: number, option: EChartsOption): string {
  const chart = init(null, null, { renderer: "svg", ssr: true, width, height });
  const textStyle = { fontFamily: "system-ui, sans-serif", fontSize: 12 };
  const heading = { color: inkOf("text"), ...textStyle };
  const titles = [option.title ?? []].flat().map((one) => ({
    ...one,
    textStyle: heading,
    subtextStyle: { ...heading, color: inkOf("faint") },
  }));
  chart.setOption({ animation: false, silent: true, textStyle, ...option, title: titles });
  const svg = chart.renderToSVGString();
  chart.dispose();
  const style = [0, 1].map((mode) =>
    Object.entries(inks)
      .map(([ink, colours]) => `--${ink}:${colours[mode]}`)
      .join(";"),
  );
  return (
    svg
      // What is for pictures that answer to the mouse, with numbers that differ in each run.
      .replaceAll(/<style[^]*?<\/style>\n?| (?:class|ecmeta_\w+)="[^"]*"|(?<=["#])zr\d+-/g, "")
      .replace(
        /^<svg[^>]*/,
        (start) =>
          `${start} role="img"><title>${escapeXml(title)}</title>\n<style>svg{${style[0]}}` +
          `@media (prefers-color-scheme:dark){svg{${style[1]}}}</style`,
      )
      .replaceAll(guard, "")
      // What XML cannot hold.
      .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
      .concat("\n")
  );
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
