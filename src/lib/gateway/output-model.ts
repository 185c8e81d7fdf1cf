/**
 * An output that never blocks the event loop. `done` is called once per call, possibly before `write` returns, with the
 * number of accepted bytes or the error. EAGAIN: nothing was accepted, because the reader is not reading.
 */
export interface OutputSink {
  /** How the descriptor is written to; see `openOutputSink`. */
  readonly way: 'own' | 'shared' | 'file' | 'relay' | 'null';
  write(bytes: Buffer, done: (error: NodeJS.ErrnoException | null, taken: number) => void): void;
  /** Aborts a pending write where possible, since it would keep the process alive. */
  end(): void;
}
