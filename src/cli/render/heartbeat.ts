import type { HeartbeatKey } from '../../lib/toolkit/heartbeat-key.result.ts';
import { printable } from '../output.ts';

/** `gw heartbeat key new` */
export function renderHeartbeatKey({ file, key }: HeartbeatKey): string {
  return [
    `Key ${key} is made.`,
    '',
    `It is in ${printable(file)}, readable for its owner only. Bring the same file to every robot of the site, over a`,
    'connection that nobody else reads. A running `gw serve` takes it at its next start.',
  ].join('\n');
}
