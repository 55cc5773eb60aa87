/** What the contract suites of the ports are: checks by title, for the test runner at hand. */

/**
 * The checks of one adapter. Each sets up what it needs, and throws an `AssertionError` where the
 * adapter does something else than the port says. Run them with any test runner:
 * `for (const [title, check] of Object.entries(contract)) it(title, check)`.
 */
export type Contract = Readonly<Record<string, () => void | Promise<void>>>;
