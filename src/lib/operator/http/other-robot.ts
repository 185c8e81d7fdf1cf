import { GwError } from '../../error/index.ts';
import type { Route } from '../routes.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/** The refusal of a change that is meant for another robot; null for a read, a stop, or an end. */
export function refuseOtherRobot(
  meant: string | string[] | undefined,
  own: string,
  route: Pick<Route, 'method' | 'forAnyRobot'> | undefined,
): Refusal | null {
  if (meant === undefined || meant === own) return null;
  if (route === undefined || route.method === 'GET' || route.forAnyRobot === true) return null;
  return refusalOf(otherRobot(own, String(meant).slice(0, 128)));
}

function otherRobot(own: string, meant: string): GwError {
  return new GwError(
    'GATEWAY_OTHER_ROBOT',
    `This gateway belongs to robot ${own}, and the request is meant for ${meant}.`,
  );
}
