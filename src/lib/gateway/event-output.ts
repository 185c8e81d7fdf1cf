import { type Clock, systemClock } from '../lifecycle/index.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { openOutputSink } from './output-sink.ts';

/** Events on stdout are few. */
const MAX_WAITING_EVENT_BYTES = 64 * 1024;

/** Writer for the events of a process on stdout, whose reader may stall. */
export function openEventOutput(
  fd: number,
  notice: (dropped: number) => string,
  clock: Clock = systemClock,
): LineWriter {
  return createLineWriter({ sink: openOutputSink(fd), clock, notice, maxWaitingBytes: MAX_WAITING_EVENT_BYTES });
}
