// Opens logs, and exits: argv is the ms that pass between two looks at the clock, then paths.
import { managersWith } from "../../packages/agents/dist/pi/session-manager.js";

const [msPerLook, ...paths] = process.argv.slice(2);
const managers = managersWith({ checkpointEveryBytes: 1 });
for (const path of paths) managers.open(path);
let ms = performance.now();
performance.now = () => (ms += Number(msPerLook));
// At once: what is saved when nothing happens for a while is not saved before.
process.exit();
