// Converts a session for omp and tells what that took. Usage: node … FILE TARGET
import { convertSession } from "@branchlog/tools";
import { peakRssBytes } from "./peak-memory.mjs";

const { entries } = await convertSession(process.argv[2], { to: "omp", target: process.argv[3] });
process.stdout.write(JSON.stringify({ entries, maxRssKb: peakRssBytes() / 1024 }));
