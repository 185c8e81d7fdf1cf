import { z } from 'zod';
import { quote } from '../json/index.ts';

/**
 * The parts of chassis responses that gw relies on: unknown fields are kept, missing optional ones are accepted, wrong
 * types are rejected by name. Numbers are finite by schema.
 * @source vendor description (HINWEIS), unless a line says otherwise
 */

/** Characters of a text that are kept: it goes to every page, record and log from here. Project decision. */
export const MAX_TEXT = 500;
const MAX_ID = 200;

const text = z.string().transform((given) => given.slice(0, MAX_TEXT));
/** A text that may be absent, empty or null. */
const word = text.nullish().transform((given) => given || null);
/** A name that is compared: one that is too long is none, since a cut one would be another. */
const identifier = z
  .string()
  .nullish()
  .transform((given) => (given && given.length <= MAX_ID ? given : null));
const version = z
  .int()
  .nullish()
  .transform((number) => number ?? null);

/** `GET /device/info`. The serial number is required: it is the identity (specification, 'Addressing rules'). */
export const deviceInfoSchema = z.looseObject({
  axbot_version: word,
  device: z.looseObject({ sn: z.string().min(1).max(128), model: word }),
  caps: z.record(z.string(), z.unknown()).nullish(),
  time: word,
});
export type DeviceInfo = z.infer<typeof deviceInfoSchema>;

/** `GET /device/boot_progress`. */
export const bootProgressSchema = z.looseObject({
  progress: z.number().min(0).max(1),
  start_time: z.number().nullish(),
  logs: z.array(z.looseObject({ msg: word })).nullish(),
});

/** An entry of `GET /maps/`. */
export const mapItemSchema = z.looseObject({
  id: z.int(),
  uid: identifier,
  map_name: text,
  map_version: version,
  overlays_version: version,
});

/** `GET /maps/`: each entry is read for itself. */
export const mapListSchema = z.array(z.unknown());

/** `GET /chassis/current-map`: `id` is -1 when the map was set from data and never stored. */
export const currentMapSchema = z.looseObject({
  id: z.int(),
  uid: identifier,
  map_name: word,
  map_version: version,
});

/** `GET /maps/<id>`: `overlays` is a JSON text inside the JSON; the overlays module reads its other forms too. */
export const mapSchema = z.looseObject({
  grid_origin_x: z.number(),
  grid_origin_y: z.number(),
  grid_resolution: z.number().positive(),
  overlays: z.union([z.string(), z.looseObject({})]).nullish(),
});

/** Reply to `POST /maps/`. */
export const mapCreatedSchema = z.looseObject({ id: z.int(), uid: identifier });

/** Reply to `GET /chassis/moves/<id>`. `target_ori` is in radians (specification, 'Angles'). */
export const moveSchema = z.looseObject({
  id: z.int(),
  state: text.nullish(),
  fail_reason: z.int().nullish(),
  fail_reason_str: word,
  target_ori: z.number().nullish(),
});

/** Reply to a move order: the vendor shows both a bare id and the whole move. */
export const moveCreatedSchema = z.looseObject({ id: z.int() });

const position = z.tuple([z.number(), z.number()]).rest(z.unknown());

/** Data messages of the topic stream, by topic. */
export const topicSchemas = {
  /** `ori` is in degrees (specification, 'Angles'). */
  '/tracked_pose': z.looseObject({ pos: position, ori: z.number() }),
  '/planning_state': z.looseObject({
    action_id: z.int(),
    action_type: word,
    move_state: text,
    fail_reason: z.int(),
    fail_reason_str: word,
    remaining_distance: z.number().nullish(),
  }),
  '/battery_state': z.looseObject({ percentage: z.number().min(0).max(1), power_supply_status: word }),
  '/wheel_state': z.looseObject({
    control_mode: text,
    emergency_stop_pressed: z.boolean(),
    // Optional in the software: a malformed value must not reject the other fields.
    wheels_released: z.unknown().optional(),
  }),
  '/slam/state': z.looseObject({ state: text, reliable: z.boolean(), position_quality: z.unknown().optional() }),
  '/alerts': z.looseObject({
    alerts: z.array(z.looseObject({ code: z.int(), level: word, msg: word })).max(500),
  }),
  '/map/info': z.looseObject({
    name: text,
    uid: z.string().max(MAX_ID),
    map_version: version,
    overlays_version: version,
  }),
} as const;

export type KnownTopic = keyof typeof topicSchemas;
export const knownTopics = Object.keys(topicSchemas) as readonly KnownTopic[];

export const topicsEnabledSchema = z.looseObject({ enabled_topics: z.array(z.string()).max(1000) });

/**
 * Paths where a number was sent as text, as `ori` or `pos[0]`, and all other issues; `others` is null when there are
 * none.
 */
export function numbersAsText(
  error: z.ZodError,
  value: unknown,
): { readonly paths: readonly string[]; readonly others: z.ZodError | null } {
  const isNumberAsText = ({ code, path, ...issue }: z.core.$ZodIssue): boolean => {
    if (code !== 'invalid_type') return false;
    const { expected } = issue as { expected?: unknown };
    if (expected !== 'number' && expected !== 'int') return false;
    const found = path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], value);
    return typeof found === 'string' && found.trim() !== '' && Number.isFinite(Number(found));
  };
  const others = error.issues.filter((issue) => !isNumberAsText(issue));
  return {
    paths: error.issues.filter(isNumberAsText).map(({ path }) => pathText(path)),
    others: others.length === 0 ? null : new z.ZodError(others),
  };
}

/** `alerts[0].code`; the keys are those of the schemas here. */
function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('');
}

/** The first few issues as one sentence: `device.sn: expected string, received number`. */
export function misfit(error: z.ZodError): string {
  const parts = error.issues.slice(0, 3).map((issue) => {
    const path = issue.path.map(String).join('.');
    const what = issue.message.replace(/^Invalid input: /, '').slice(0, 100);
    return path === '' ? what : `${quote(path).slice(1, -1)}: ${what}`;
  });
  const more = error.issues.length - parts.length;
  return more > 0 ? `${parts.join('; ')}; and ${more} more` : parts.join('; ');
}
