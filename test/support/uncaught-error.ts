/** Catches what is thrown to the process, where nothing else could. */

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
