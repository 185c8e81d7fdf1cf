import { GwError, type Tried } from '../../error/index.ts';

/** As the operator server defines it: the serial number of the robot that is meant, or that answered. */
export const ROBOT_HEADER = 'gw-robot';
/** Never refused for the robot that is meant: they stop, end, or take access away. */
export const FOR_ANY_ROBOT: ReadonlySet<string> = new Set([
  'POST /api/stopp',
  'DELETE /api/touren/lauf',
  'DELETE /api/fahrt',
  'DELETE /api/versuch',
  'DELETE /api/wartung/sitzung',
  'DELETE /api/anmeldung',
]);
/** Let the robot move, or decide what it moves by: only where the gateway has named its robot before. */
export const ORDERS: ReadonlySet<string> = new Set([
  'POST /api/touren/lauf',
  'POST /api/fahrt',
  'POST /api/pose',
  'POST /api/versuch',
  'DELETE /api/stopp',
  'POST /api/evidenz/uebernahme',
]);

/** The error of an answer of another robot; null: of a gateway that does not name its robot. */
export function otherRobot(found: string | null, meant: string, tried: Tried): GwError {
  if (found !== null) {
    const message = `This gateway belongs to robot ${found}, and the site file of this command names ${meant}.`;
    return new GwError('GATEWAY_OTHER_ROBOT', message, { tried, details: { found, meant } });
  }
  const message = `This gateway does not name its robot; the site file of this command names ${meant}.`;
  const remedy = 'Bring both to the same version of gw; until then run the command on the gateway.';
  return new GwError('GATEWAY_OTHER_ROBOT', message, { tried, remedy, details: { found, meant } });
}

/** A header of another program: whatever is no serial number names no robot. */
export function robotNamed(value: string | string[] | undefined): string | null {
  return typeof value === 'string' && /^[A-Za-z0-9:_-]{1,128}$/.test(value) ? value : null;
}
