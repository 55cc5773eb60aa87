/** Catches what is thrown to the process, where nothing else could. */
import { onTestFinished } from "vitest";

/** What is thrown uncaught, from here to the end of the test; and when so much of it was. */
export function uncaughtErrors(): {
  readonly thrown: unknown[];
  readonly until: (count: number) => Promise<void>;
} {
  const thrown: unknown[] = [];
  let check = (): void => undefined;
  process.setUncaughtExceptionCaptureCallback((error) => {
    thrown.push(error);
    check();
  });
  onTestFinished(() => process.setUncaughtExceptionCaptureCallback(null));
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        if (thrown.length >= count) resolve();
      };
      check();
    });
  return { thrown, until };
}

/** The next uncaught error, once `action` ran. */
export async function uncaughtError(action: () => void): Promise<Error> {
  try {
    return await new Promise((resolve) => {
      process.setUncaughtExceptionCaptureCallback(resolve);
      action();
    });
  } finally {
    process.setUncaughtExceptionCaptureCallback(null);
  }
}
