/**
 * The bars of one case: each subject's cost on a logarithmic axis, so that subjects a thousand
 * times apart can be read in one picture. Pure.
 */
import { type CaseReport, formatMs, formatNumber, isRate, type SubjectReport } from "../report.ts";
import { bar, type Shape, svgDocument, text } from "./svg.ts";

const width = 860;
const labelWidth = 380;
const barsWidth = 330;
const rowHeight = 24;
const top = 64;

/** The picture of a case; peers that failed stand in it with their reason. */
export function casePlot(report: CaseReport): string {
  const costs = report.subjects.map((subject) => costOf(report, subject));
  const rows = [
    ...report.subjects.flatMap((subject, row) => subjectRow(report, subject, { row, costs })),
    ...report.failedPeers.flatMap(({ name, reason }, place) =>
      failedRow(name, reason, report.subjects.length + place),
    ),
  ];
  const count = report.subjects.length + report.failedPeers.length;
  const heading = [
    text(report.name, { x: 12, y: 24, isStrong: true }),
    text(report.question, { x: 12, y: 44, ink: "faint" }),
  ];
  const what = report.comparedBy ?? "time";
  const note = text(`${what}, ${isRate(what) ? "more" : "less"} is better; logarithmic`, {
    x: 12,
    y: top + count * rowHeight + 16,
    ink: "faint",
  });
  const height = top + count * rowHeight + 28;
  return svgDocument(`${report.name}: ${report.question}`, { width, height }, [
    ...heading,
    ...rows,
    note,
  ]);
}

function subjectRow(
  report: CaseReport,
  subject: SubjectReport,
  { row, costs }: { readonly row: number; readonly costs: readonly number[] },
): readonly Shape[] {
  const cost = costOf(report, subject);
  const y = top + row * rowHeight;
  const length = barsWidth * shareOf(cost, costs);
  return [
    label(subject.name, y),
    bar(subject.role, { x: labelWidth, y: y + 3, width: length, height: rowHeight - 8 }),
    text(shown(report, cost), {
      x: labelWidth + (Number.isFinite(length) ? length : 0) + 6,
      y: y + 15,
    }),
  ];
}

function failedRow(subject: string, reason: string, row: number): readonly Shape[] {
  const y = top + row * rowHeight;
  const [verb = reason] = /^[^:]*(?:: .{0,50})?/.exec(reason) ?? [];
  return [label(subject, y), text(verb, { x: labelWidth, y: y + 15, ink: "peer" })];
}

function label(content: string, y: number): Shape {
  const shortened = content.length > 56 ? `${content.slice(0, 55)}…` : content;
  return text(shortened, { x: labelWidth - 8, y: y + 15, anchor: "end" });
}

function costOf({ comparedBy }: CaseReport, { wallMs, figures }: SubjectReport): number {
  return (comparedBy === undefined ? wallMs : figures[comparedBy])?.median ?? Number.NaN;
}

function shown({ comparedBy }: CaseReport, cost: number): string {
  if (!Number.isFinite(cost)) return "no figure";
  return comparedBy === undefined ? formatMs(cost) : `${formatNumber(cost)} ${comparedBy}`;
}

/** From a tenth for the least to one for the most. */
function shareOf(cost: number, costs: readonly number[]): number {
  const sound = costs.filter((value) => value > 0 && Number.isFinite(value));
  if (cost === 0) return 0;
  const [least, most] = [Math.min(...sound), Math.max(...sound)].map(Math.log);
  if (least === undefined || most === undefined || most === least) {
    return Number.isFinite(cost) ? 1 : Number.NaN;
  }
  return 0.1 + (0.9 * (Math.log(cost) - least)) / (most - least);
}
