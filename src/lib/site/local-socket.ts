import { join } from 'node:path';
import type { Site } from './schema.ts';

/**
 * Socket through which a command on the gateway itself reaches the running gateway without a password, in a folder that
 * only its owner may enter. Project decision.
 */
export function localSocketPath({ stateDir }: Pick<Site, 'stateDir'>): string {
  return join(stateDir, 'local', 'gw.sock');
}
/** How a command of gw names itself to a gateway (`User-Agent`). For logs and people; it grants nothing. */
export const COMMAND_AGENT = 'gw-command';
