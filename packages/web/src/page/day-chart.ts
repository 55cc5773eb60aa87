/** Costs per day as bars of models, drawn by uPlot on a canvas. */
import UPlot from "uplot";
import type { DayStacks } from "./model/day-stacks.ts";
import { formatCost } from "./model/formatting.ts";

const chartHeight = 240;
const dayLength = 86_400;
const dayTicks = [1, 2, 7, 14, 30, 90, 365].map((days) => days * dayLength);

interface ChartOptions {
  /** In US dollars a day; null: without one. */
  readonly budget: number | null;
  readonly onDay: (day: string) => void;
}

/** Draws into an element until the returned function is called. Days are named as in ISO 8601. */
export function drawDays(
  element: HTMLElement,
  stacks: DayStacks,
  options: ChartOptions,
): () => void {
  const times = stacks.days.map((day) => Date.parse(`${day}T12:00:00Z`) / 1000);
  const sums = stacks.days.map(() => 0);
  const tops = stacks.models.map(({ costs }) =>
    costs.map((cost, day) => (sums[day] = (sums[day] ?? 0) + cost)),
  );
  // The highest bar is drawn first, so that the others stand before it.
  const data: UPlot.AlignedData = [times, ...tops.toReversed()];
  const chart = new UPlot(chartOptions(element, stacks, sums, options), data, element);
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: element.clientWidth, height: chartHeight }),
  );
  observer.observe(element);
  const choose = (): void => {
    const day = stacks.days[chart.cursor.idx ?? -1];
    if (day !== undefined) options.onDay(day);
  };
  chart.over.addEventListener("click", choose);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

function chartOptions(
  element: HTMLElement,
  { days, models }: DayStacks,
  sums: readonly number[],
  { budget }: ChartOptions,
): UPlot.Options {
  const style = getComputedStyle(element);
  const axis: UPlot.Axis = {
    stroke: style.color,
    grid: { stroke: style.borderTopColor, width: 1 },
    ticks: { show: false },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
  const price = (cost: number | undefined): string =>
    cost === undefined || cost === 0 ? "–" : formatCost(cost);
  const series = models.map(({ name, costs }, at) => ({
    label: name,
    fill: colourOf(element, `--lane-${at}`),
    value: (_: UPlot, __: number | null, ___: number, index: number | null) =>
      price(index === null ? undefined : costs[index]),
    ...(bars === undefined ? {} : { paths: bars }),
    points: { show: false },
  }));
  const highest = Math.max(...sums, budget ?? 0);
  return {
    width: element.clientWidth,
    height: chartHeight,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    legend: { show: true },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // Half a day more on both sides, for the bars of the first and the last day.
      x: { range: (_, first, last) => [first - dayLength / 2, last + dayLength / 2] },
      y: { range: () => [0, highest === 0 ? 1 : highest * 1.08] },
    },
    axes: [
      { ...axis, incrs: dayTicks, values: (_, times) => times.map((time) => dayOf(time).slice(5)) },
      { ...axis, size: 60, values: (_, prices) => prices.map((each) => `$${each}`) },
    ],
    series: [
      {
        label: "Day",
        value: (_, time, __, index) =>
          time === null || index === null
            ? "–"
            : `${days[index] ?? dayOf(time)} ${price(sums[index])}`,
      },
      ...series.toReversed(),
    ],
    hooks: {
      draw:
        budget === null ? [] : [(chart) => drawBudget(chart, budget, colourOf(element, "--bad"))],
    },
  };
}

/** A canvas takes no pair of light and dark. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = element.appendChild(document.createElement("span"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function drawBudget(chart: UPlot, budget: number, colour: string): void {
  const { ctx, bbox } = chart;
  const y = chart.valToPos(budget, "y", true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([6, 4]);
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
