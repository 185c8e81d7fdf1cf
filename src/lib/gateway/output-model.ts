/**
 * Where bytes go without ever holding the event loop. `done` is called once for each call, possibly before `write`
 * returns: with how many bytes were taken, or with the error. EAGAIN: nothing was taken, the reader is not reading.
 */
export interface OutputSink {
  /** How the descriptor is written to; see `openOutputSink`. */
  readonly way: 'own' | 'shared' | 'file' | 'relay' | 'null';
  write(bytes: Buffer, done: (error: NodeJS.ErrnoException | null, taken: number) => void): void;
  /** Gives up a write that is under way, where that is possible: it would keep the process alive. */
  end(): void;
}
