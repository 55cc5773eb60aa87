/** The picture of results; the only importer of `echarts`. */
import { BarChart } from "echarts/charts";
import { GridComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { type CaseReport, formatNumber } from "./report.ts";

use([BarChart, GridComponent, TitleComponent, SVGRenderer]);

/** An SVG with a bar for each case with peers: the cost of the fastest as a multiple of ours. */
export function resultsPicture(cases: readonly CaseReport[]): string {
  const rows = cases.flatMap(({ name, subjects }) => {
    const ratios = subjects.flatMap(({ name: subject, role, ratio = 0 }) =>
      role === "peer" && ratio > 0 ? [{ engine: subject.split(":")[0] ?? subject, ratio }] : [],
    );
    return ratios
      .sort((a, b) => a.ratio - b.ratio)
      .slice(0, 1)
      .map(({ engine, ratio }) => ({ name, ratio, note: `${formatNumber(ratio)}× ${engine}` }));
  });
  const chart = init(null, null, {
    renderer: "svg",
    ssr: true,
    width: 860,
    height: 110 + 28 * rows.length,
  });
  chart.setOption({
    animation: false,
    silent: true,
    // Without a style sheet, one background for readers in the light and in the dark mode.
    backgroundColor: "#fff",
    title: {
      text: "The fastest other engine, as a multiple of Branchlog",
      subtext: "Time, or the figure that the case compares; right of 1×, Branchlog is faster",
    },
    grid: { left: 130, right: 60, top: 60, bottom: 40 },
    // Not an axis of logarithms, whose bars would begin at its least value instead of at 1.
    xAxis: { type: "value", axisLabel: { formatter: (log: number) => `${10 ** log}×` } },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map(({ name }) => name),
      axisLine: { onZero: false },
    },
    series: {
      type: "bar",
      label: {
        show: true,
        position: "right",
        formatter: ({ dataIndex }: { readonly dataIndex: number }) => rows[dataIndex]?.note ?? "",
      },
      data: rows.map(({ ratio }) => ({
        value: Math.log10(ratio),
        itemStyle: { color: ratio < 1 ? "#bc4c00" : "#0969da" },
      })),
    },
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
