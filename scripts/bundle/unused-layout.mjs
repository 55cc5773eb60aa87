/** In the place of the packages with which yargs lays out its own help. */
function unused() {
  throw new Error("The bundle is without the help of yargs.");
}

// eslint-disable-next-line import/no-default-export -- As the packages that it replaces.
export default unused;
