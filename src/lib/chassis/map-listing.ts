import { isRecord } from '../json/index.ts';
import type { DamagedMapItem, MapListItem, MapListing } from './model.ts';
import { mapItemSchema, misfit } from './schema.ts';

/**
 * The entries of `GET /maps/`, each read for itself. Of a number that is listed twice every entry is damaged: which of
 * them `GET /maps/<id>` returns is unknown.
 */
export function readMapListing(entries: readonly unknown[], bytes: Uint8Array): MapListing {
  const times = new Map<unknown, number>();
  for (const id of entries.map(idOf)) if (id !== null) times.set(id, (times.get(id) ?? 0) + 1);
  const maps: MapListItem[] = [];
  const damaged: DamagedMapItem[] = [];
  for (const [index, value] of entries.entries()) {
    const result = mapItemSchema.safeParse(value);
    const count = times.get(idOf(value)) ?? 0;
    if (result.success && count === 1) maps.push(itemOf(result.data));
    else {
      const why = result.success
        ? `its number is listed ${count === 2 ? 'twice' : `${count} times`}`
        : misfit(result.error);
      damaged.push({ entry: index + 1, ...readableOf(value), why });
    }
  }
  return { maps, damaged, bytes };
}

function itemOf(item: ReturnType<typeof mapItemSchema.parse>): MapListItem {
  return {
    id: item.id,
    uid: item.uid,
    name: item.map_name,
    mapVersion: item.map_version,
    overlaysVersion: item.overlays_version,
  };
}

const { id: idSchema, uid: uidSchema, map_name: nameSchema } = mapItemSchema.shape;

function idOf(value: unknown): number | null {
  return (isRecord(value) ? idSchema.safeParse(value.id).data : undefined) ?? null;
}

function readableOf(value: unknown): Pick<DamagedMapItem, 'id' | 'uid' | 'name'> {
  const given = isRecord(value) ? value : {};
  return {
    id: idOf(value),
    uid: uidSchema.safeParse(given.uid).data ?? null,
    name: nameSchema.safeParse(given.map_name).data ?? null,
  };
}
