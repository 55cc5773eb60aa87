/** Costs per day as bars, drawn by uPlot on a canvas. */
import UPlot from "uplot";
import type { CostRow } from "../api.ts";
import { formatCost } from "./model/formatting.ts";

const chartHeight = 220;
const dayLength = 86_400;
const dayTicks = [1, 2, 7, 14, 30, 90, 365].map((days) => days * dayLength);

/** Draws into an element until the returned function is called. Days are named as in ISO 8601. */
export function drawDays(element: HTMLElement, rows: readonly CostRow[]): () => void {
  const days = rows.toSorted((a, b) => a.name.localeCompare(b.name));
  const times = days.map(({ name }) => Date.parse(`${name}T12:00:00Z`) / 1000);
  const chart = new UPlot(options(element), [times, days.map(({ cost }) => cost)], element);
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: chartHeight }),
  );
  observer.observe(element);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function options(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  const axis: UPlot.Axis = {
    stroke: style.color,
    grid: { stroke: style.borderTopColor, width: 1 },
    ticks: { show: false },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
  return {
    width: element.clientWidth,
    height: chartHeight,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: true },
    // Half a day more on both sides, for the bars of the first and the last day.
    scales: { x: { range: (_, first, last) => [first - dayLength / 2, last + dayLength / 2] } },
    axes: [
      { ...axis, incrs: dayTicks, values: (_, times) => times.map((time) => dayOf(time).slice(5)) },
      { ...axis, size: 60, values: (_, prices) => prices.map((each) => `$${each}`) },
    ],
    series: [
      { label: "Day", value: (_, time) => (time === null ? "–" : dayOf(time)) },
      {
        label: "Cost",
        fill: style.accentColor,
        value: (_, cost) => (cost === null ? "–" : formatCost(cost)),
        ...(bars === undefined ? {} : { paths: bars }),
        points: { show: false },
      },
    ],
  };
}
