import { tryPort } from '../src/lib/toolkit/free-port.ts';

/** Below those that the kernel gives to whoever asks for any port (32768 and above on Linux), and above known services. */
const [FIRST, COUNT] = [15_000, 15_000];
/** Each process begins at a place of its own. */
let tried = (process.pid * 61) % COUNT;

/**
 * A port on 127.0.0.1 that was free a moment ago, for a program that needs its port beforehand, or to find it closed. No
 * program that opens any port gets it meanwhile, and it is not given again until all others were.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    tried = (tried + 1) % COUNT;
    const port = await tryPort('127.0.0.1', FIRST + tried);
    if (port !== undefined) return port;
  }
  throw new Error('no free port on 127.0.0.1');
}
