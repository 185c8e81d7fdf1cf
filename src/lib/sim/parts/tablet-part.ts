import type { SimOptions } from '../model.ts';
import { startTablet, type Tablet } from '../tablet/index.ts';
import type { PartStart } from './part-start.ts';

/** Starts the tablet, and notes when its port closes, opens again or cannot be opened. */
export async function startTabletPart(start: PartStart, options: SimOptions['tablet']): Promise<Tablet> {
  const { undo, stages, onEvent, clock, faults } = start;
  let isOpen = true;
  stages.enter('the key and the port of the tablet');
  const tablet = undo.use(
    await startTablet({
      ...options,
      faults,
      clock,
      onPort(port, problem) {
        const text = port === null ? 'The port of the tablet is closed' : `The tablet listens on port ${port}`;
        if (problem !== undefined || isOpen !== (port !== null)) {
          onEvent({ event: 'note', text: problem === undefined ? `${text}.` : `${text}: ${problem}` });
        }
        isOpen = port !== null;
      },
    }),
  );
  onEvent({ event: 'listening', part: 'tablet', url: `tcp://${tablet.host}:${tablet.port}` });
  return tablet;
}
