import { z } from 'zod';
import { otherFormat, otherVersionText } from '../json/index.ts';
import { parseKept } from './kept-file.ts';
import type { PoseAlarmView } from './model.ts';
import { frameSchema } from './view.ts';

const FORMAT = 'gw/pose-alarm/2';
/** Until gw 0.2 one alarm, without its map. */
const FORMAT_WITHOUT_MAP = 'gw/pose-alarm/1';
export const MAX_CHARACTERS = 500;

const alarm = { reason: z.string().max(MAX_CHARACTERS), since: z.iso.datetime().nullable() };
const schema = z.union([
  z.strictObject({
    format: z.literal(FORMAT),
    alarms: z.array(z.strictObject({ ...alarm, map: frameSchema.nullable() })).min(1),
  }),
  z.strictObject({ format: z.literal(FORMAT_WITHOUT_MAP), ...alarm }),
]);

export function encodePoseAlarms(alarms: readonly PoseAlarmView[]): string {
  return `${JSON.stringify({ format: FORMAT, alarms })}\n`;
}

/** The alarms of the file, or a short text why it holds none. Exported for its property test too. */
export function parsePoseAlarms(text: string): readonly PoseAlarmView[] | string {
  const kept = parseKept(text);
  if (typeof kept === 'string') return kept;
  const parsed = schema.safeParse(kept.json);
  if (!parsed.success) {
    const format = otherFormat(kept.json, FORMAT);
    const isOther = format !== null && format !== FORMAT_WITHOUT_MAP;
    return isOther ? otherVersionText(format, FORMAT) : 'its content is not a pose alarm';
  }
  if (parsed.data.format === FORMAT) return parsed.data.alarms;
  const { reason, since } = parsed.data;
  return [{ reason, since, map: null }];
}
