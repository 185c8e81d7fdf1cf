import { tryPort } from '../src/lib/toolkit/free-port.ts';

/** A port on 127.0.0.1 that was free a moment ago, for a program that needs its port beforehand, or to find it closed. */
export async function freePort(): Promise<number> {
  const port = await tryPort('127.0.0.1', 0);
  if (port === undefined) throw new Error('no free port on 127.0.0.1');
  return port;
}
