// Updates the search index, and prints a line after each batch: argv is the place. Runs on dist.
import process from "node:process";
import "@branchlog/agents";
import { updateSearchIndex } from "@branchlog/library";

const onProgress = () => process.stdout.write("batch\n");
await updateSearchIndex({ places: process.argv.slice(2), onProgress });
process.stdout.write("done\n");
