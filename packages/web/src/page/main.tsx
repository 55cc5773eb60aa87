/** Starts the page. */
import "./page-key.ts";
import { render } from "preact";
import { App } from "./app.tsx";
import { startEvents } from "./live-events.ts";
import { startPalette } from "./palette.tsx";
import { startCatalog } from "./session-catalog.ts";

const root = document.getElementById("page");
if (root !== null) {
  startCatalog();
  startEvents();
  startPalette();
  render(<App />, root);
}
