import { asGwError, GwError } from '../../error/index.ts';
import type { Site } from '../../site/index.ts';
import type { DriveRun, DriveTarget, MoveOutcome, Order } from '../model.ts';
import { isStopped } from './tour-run.ts';
import { dockOrder, stationOrder } from './tours.ts';

/** Runs a single drive through `execute`. Never rejects. */
export async function runDrive(
  begun: DriveRun,
  order: Order,
  options: { execute(order: Order): Promise<MoveOutcome>; signal: AbortSignal },
): Promise<DriveRun> {
  try {
    const outcome = await options.execute(order);
    const ended = isStopped(outcome, options.signal) ? 'stopped' : 'failed';
    return { ...begun, state: outcome.state === 'succeeded' ? 'succeeded' : ended, outcome, reason: outcome.reason };
  } catch (error) {
    const state = options.signal.aborted ? 'stopped' : 'failed';
    return { ...begun, state, reason: asGwError(error).message };
  }
}

/** The order of a single drive. Throws STATION_UNKNOWN, also for a dock that is missing in the site file. */
export function planDrive(site: Pick<Site, 'stations' | 'dock' | 'maps' | 'chassis'>, target: DriveTarget): Order {
  if ('dock' in target) {
    const order = dockOrder(site);
    if (order !== undefined) return order;
    throw new GwError('STATION_UNKNOWN', 'The site file names no dock.', {
      remedy: 'Measure the pose of the dock, enter it as `dock` in the site file, then restart `gw serve`.',
    });
  }
  const order = stationOrder(site, target.station);
  if (order !== undefined) return order;
  const names = Object.keys(site.stations);
  throw new GwError('STATION_UNKNOWN', `The site file names no station '${target.station}'.`, {
    remedy: names.length > 0 ? `Name one of: ${names.join(', ')}.` : 'Add a station to the site file.',
  });
}
