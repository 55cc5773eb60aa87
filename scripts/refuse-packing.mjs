/** The `prepack` script of the package in its sources, whose parts are not inside: ends with 1. */
console.error(
  'Nothing was packed: the parts of the package are beside it here. Run "npm run pack" in the root ' +
    "of the repository; dist-packages/branchlog is what npm publish takes.",
);
process.exitCode = 1;
