/** A fixture that each test which names it has for itself; disposed at the end of the test. */
export function fresh<T extends AsyncDisposable>(make: () => T | Promise<T>) {
  return async ({ task: _ }: object & { task?: unknown }, { onCleanup }: { onCleanup(end: () => unknown): void }) => {
    const made = await make();
    onCleanup(() => made[Symbol.asyncDispose]());
    return made;
  };
}
