import { afterAll, afterEach, beforeEach } from 'vitest';

/** For all tests of this file, after which it ends: `const world = shared(await startWorld())`. */
export function shared<T extends AsyncDisposable>(world: T): T {
  afterAll(() => world[Symbol.asyncDispose]());
  return world;
}

/** What a test uses is disposed of at its end. */
export function ofEach() {
  let stack = new AsyncDisposableStack();
  beforeEach(() => {
    stack = new AsyncDisposableStack();
  });
  afterEach(() => stack.disposeAsync());
  return {
    use: <T extends AsyncDisposable>(one: T): T => stack.use(one),
    defer: (end: () => Promise<void>) => stack.defer(end),
  };
}
