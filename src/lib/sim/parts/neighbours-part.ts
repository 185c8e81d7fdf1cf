import { type Neighbours, type NeighboursOptions, startNeighbours } from '../fleet/neighbours.ts';
import type { PartStart } from './part-start.ts';

/** Starts the heartbeats of the neighbours. */
export async function startNeighboursPart(
  { undo, stages, onEvent, clock, faults }: PartStart,
  options: Omit<NeighboursOptions, 'faults' | 'clock' | 'onUnsent'>,
): Promise<Neighbours> {
  stages.enter('the neighbours');
  const neighbours = undo.use(
    await startNeighbours({
      ...options,
      faults,
      clock,
      onUnsent: (reason) =>
        onEvent({ event: 'note', text: `Heartbeats of the neighbours cannot be sent (${reason}).` }),
    }),
  );
  const { to, firstSerial, lastSerial } = neighbours;
  onEvent({ event: 'fleet', robots: options.robots, firstSerial, lastSerial, to });
  return neighbours;
}
