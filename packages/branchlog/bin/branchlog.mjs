#!/usr/bin/env node
/**
 * The command as it is installed. It is there before anything is built, so that a fresh clone can
 * link it; the process itself is `src/main.ts` of @branchlog/cli, bundled by `npm run build`.
 */
import "../bundle/main.js";
