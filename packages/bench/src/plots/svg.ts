/**
 * The pieces that plots are drawn of: an SVG document that follows the light or dark mode of its
 * reader, lines, bars and texts. Numbers that are none are never drawn. Pure.
 */

/** A piece of SVG; made only by the functions of this file. */
export interface Shape {
  readonly svg: string;
}

/** Names of colours that the document defines for both modes. */
export type Ink = "text" | "faint" | "grid" | "ours" | "baseline" | "peer";

/** Where a text ends or begins. */
export type Anchor = "start" | "middle" | "end";

const light: Readonly<Record<Ink, string>> = {
  text: "#1f2328",
  faint: "#59636e",
  grid: "#d1d9e0",
  ours: "#0969da",
  baseline: "#818b98",
  peer: "#bc4c00",
};

const dark: Readonly<Record<Ink, string>> = {
  text: "#f0f6fc",
  faint: "#9198a1",
  grid: "#3d444d",
  ours: "#4493f8",
  baseline: "#656c76",
  peer: "#db6d28",
};

/** A whole document; `title` is what a screen reader says of it. */
export function svgDocument(
  title: string,
  size: { readonly width: number; readonly height: number },
  shapes: readonly Shape[],
): string {
  const { width, height } = size;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>text{font:12px system-ui,sans-serif}.strong{font-weight:600}${inks(light)}` +
      `@media (prefers-color-scheme:dark){${inks(dark)}}</style>`,
    ...shapes.map(({ svg }) => svg).filter((svg) => svg !== ""),
    "</svg>",
    "",
  ].join("\n");
}

/** A filled rectangle. */
export function bar(
  ink: Ink,
  at: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
): Shape {
  const { x, y, width, height } = at;
  return drawn([x, y, width, height], () => {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    return `<rect class="${ink}" ${box} rx="2"/>`;
  });
}

/** A line through points, left to right; `dashes` are lengths of dashes and gaps in turn. */
export function curve(
  ink: Ink,
  points: readonly (readonly [number, number])[],
  dashes: readonly number[] = [],
): Shape {
  const sound = points.filter((point) => point.every(Number.isFinite));
  if (sound.length < 2) return { svg: "" };
  const list = sound.map(([x, y]) => `${short(x)},${short(y)}`).join(" ");
  const dashed = dashes.length === 0 ? "" : ` stroke-dasharray="${dashes.join(" ")}"`;
  return { svg: `<polyline class="line ${ink}" points="${list}"${dashed}/>` };
}

/** A dot of a curve. */
export function dot(ink: Ink, [x, y]: readonly [number, number]): Shape {
  return drawn([x, y], () => `<circle class="${ink}" cx="${short(x)}" cy="${short(y)}" r="3"/>`);
}

/** A text at its base line. */
export function text(
  content: string,
  at: {
    readonly x: number;
    readonly y: number;
    readonly ink?: Ink;
    readonly anchor?: Anchor;
    readonly isStrong?: boolean;
  },
): Shape {
  const { x, y, ink = "text", anchor = "start", isStrong = false } = at;
  return drawn([x, y], () => {
    const weight = isStrong ? " strong" : "";
    const place = `x="${short(x)}" y="${short(y)}" text-anchor="${anchor}"`;
    return `<text class="${ink}${weight}" ${place}>${escapeXml(content)}</text>`;
  });
}

function drawn(numbers: readonly number[], draw: () => string): Shape {
  return { svg: numbers.every(Number.isFinite) ? draw() : "" };
}

function inks(palette: Readonly<Record<Ink, string>>): string {
  return Object.entries(palette)
    .map(
      ([ink, colour]) =>
        `.${ink}{fill:${colour}}.line.${ink}{fill:none;stroke:${colour};stroke-width:2}`,
    )
    .join("");
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Text as XML; characters that XML cannot hold become U+FFFD. */
function escapeXml(content: string): string {
  return content
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
