// Overlays for benchmarks: a building with any number of equal cells, identical in every run.
import { closeSync, openSync, writeSync } from 'node:fs';

const CELLS_PER_ROW = 200;
const CELL_M = 6;
const CHUNK = 2000;

/**
 * Writes a FeatureCollection of `features` features, about 400 bytes each: 65 % points, 22 % zones, 13 % lanes, with
 * string and number codes as devices mix them, and one faulty feature in 500.
 * @param {string} path
 * @param {number} features
 */
export function writeOverlays(path, features) {
  const file = openSync(path, 'w');
  try {
    writeSync(file, '{"type":"FeatureCollection","features":[');
    for (let from = 0; from < features; from += CHUNK) {
      const chunk = [];
      for (let nth = from; nth < Math.min(from + CHUNK, features); nth += 1)
        chunk.push(JSON.stringify(cellFeature(nth)));
      writeSync(file, `${from === 0 ? '' : ','}${chunk.join(',')}`);
    }
    writeSync(file, ']}\n');
  } finally {
    closeSync(file);
  }
}

/** Every cell has twenty features. */
function cellFeature(nth) {
  const cell = Math.floor(nth / 20);
  const [x, y] = [(cell % CELLS_PER_ROW) * CELL_M, Math.floor(cell / CELLS_PER_ROW) * CELL_M];
  const made = inCell(nth, nth % 20, x, y, cell);
  if (nth % 500 === 499) return odd(made, nth);
  return made;
}

function inCell(nth, place, x, y, cell) {
  const at = (dx, dy) => [round(x + dx), round(y + dy)];
  if (place < 9) {
    const type = [11, '11', '21', '30', 25, '22', '19', 6, '28'][place];
    return point(nth, at(0.6 + place * 0.5, 1.2 + (nth % 7) * 0.3), { type, name: `Zimmer ${cell}.${place}` });
  }
  if (place === 9) return point(nth, at(1, 5), { type: '9', name: `Lader ${cell}`, dockingPointId: idOf(nth + 1) });
  if (place === 10) return point(nth, at(1, 4.101), { type: 36, name: `Andockpunkt ${cell}` });
  if (place < 13)
    return point(nth, at(place / 3, 0.4), {
      type: place === 11 ? '37' : 39,
      name: `Marke ${nth}`,
      barcodeId: `B${nth}`,
    });
  if (place === 13) return zone(nth, box(at, 0.2, 0.2, 5.6, 5.6), { regionType: 2, name: `Raum ${cell}` });
  if (place === 14)
    return zone(nth, box(at, 5.2, 2.2, 1.1, 1.1), { regionType: '5', mac: '30:AE:A4:00:00:01', name: `Tür ${cell}` });
  if (place === 15) return zone(nth, ell(at), { regionType: cell % 4 === 0 ? '1' : 7, name: `Bereich ${cell}` });
  if (place === 16) return zone(nth, round8(at), { regionType: 12, name: `Säule ${cell}`, desc: text(nth) });
  const line = [at(0.5, 0.5 + place / 10), at(3, 3), at(5.5, 2.75), at(8, 2.75 + (nth % 3) / 10)];
  return feature(
    nth,
    { type: 'LineString', coordinates: line },
    { lineType: place === 17 ? 2 : '1', direction: 3, desc: text(nth) },
  );
}

function odd(made, nth) {
  const { id, ...withoutId } = made;
  const kind = Math.floor(nth / 500) % 4;
  if (kind === 0) return withoutId;
  if (kind === 1) return { ...made, id: idOf(1) };
  if (kind === 2) return { ...made, properties: { ...made.properties, yaw: '1.5708' } };
  return { ...made, properties: { ...made.properties, speedLimit: 0.4 } };
}

function point(nth, coordinates, properties) {
  const yaw = ((nth * 37) % 360) - 180;
  return feature(
    nth,
    { type: 'Point', coordinates },
    {
      ...properties,
      yaw: nth % 3 === 0 ? yaw : String(yaw),
      iconYaw: String(yaw - 82),
      startType: '1',
      endType: 2,
      deviceIds: ['SN0001'],
      blocked: false,
      desc: text(nth),
    },
  );
}

function zone(nth, ring, properties) {
  return feature(nth, { type: 'Polygon', coordinates: [ring] }, { ...properties, blocked: false, note: text(nth) });
}

function feature(nth, geometry, properties) {
  return { id: idOf(nth), type: 'Feature', geometry, properties: { ...properties, mapOverlay: true } };
}

function idOf(nth) {
  return `5f0c${String(nth).padStart(20, '0')}`;
}

function box(at, x, y, width, height) {
  return [at(x, y), at(x + width, y), at(x + width, y + height), at(x, y + height), at(x, y)];
}

function ell(at) {
  return [at(3, 3.5), at(5.6, 3.5), at(5.6, 5.2), at(4.5, 5.2), at(4.5, 4.2), at(3, 4.2)];
}

function round8(at) {
  const ring = Array.from({ length: 16 }, (_, nth) => {
    return at(2.5 + 0.4 * Math.cos((nth * Math.PI) / 8), 4.5 + 0.4 * Math.sin((nth * Math.PI) / 8));
  });
  return [...ring, ring[0]];
}

function text(nth) {
  return `edited by hand, checked on the floor plan, number ${nth}, kept as received and carried through unchanged, word for word`;
}

function round(metres) {
  return Math.round(metres * 1000) / 1000;
}
