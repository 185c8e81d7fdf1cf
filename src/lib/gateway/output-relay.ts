import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { OutputSink } from './output-model.ts';

/**
 * Writes through `cat`, which blocks in place of the daemon. In a session of its own, so that Ctrl-C at the terminal
 * does not end it before the last lines.
 */
export function relaySink(fd: number): OutputSink {
  const relay = spawn('cat', [], { stdio: ['pipe', fd, 'ignore'], detached: true });
  relay.unref();
  const { stdin } = relay;
  if (stdin instanceof Socket) stdin.unref();
  let failure: NodeJS.ErrnoException | null = null;
  const onError = (error: NodeJS.ErrnoException) => {
    failure ??= error;
  };
  relay.on('error', onError);
  stdin?.on('error', onError);
  return {
    way: 'relay',
    write(bytes, done) {
      if (failure !== null || stdin === null) done(failure ?? new Error('cat has no stdin'), 0);
      else stdin.write(bytes, (error) => done(error ?? null, error ? 0 : bytes.length));
    },
    // The relay still forwards what it has received, then ends.
    end: () => void stdin?.destroy(),
  };
}
