/** The specification's table, row by row: method, path, full socket, read-only socket. */
export const specifiedRoutes = [
  ['GET', '/', 200, 200],
  ['GET', '/service', 200, 200],
  ['GET', '/api/nachbarn', 200, 200],
  ['GET', '/api/chassis/device/info', 200, 200],
  ['GET', '/api/chassis/maps/7.png', 200, 403],
  ['GET', '/api/medien', 200, 403],
  ['GET', '/api/chatbot/config', 409, 403],
  ['GET', '/api/uiot/status', 409, 403],
  ['GET', '/anmeldung', 200, 403],
  ['POST', '/api/touren/lauf', 400, 403],
  ['POST', '/api/anmeldung', 409, 403],
  ['DELETE', '/api/anmeldung', 200, 403],
] as const;

/** Further routes of gw, by their answers on the full socket and on the read-only one. */
const ownRoutes: readonly (readonly [full: number, readOnly: number, method: string, paths: string])[] = [
  [200, 403, 'GET', '/medien /metrics /api/cloud /api/openapi.json /api/asyncapi.json /api/touren /api/touren/lauf'],
  [200, 403, 'GET', '/api/fahrt /api/stopp /api/lieferung'],
  [200, 403, 'DELETE', '/api/touren/lauf /api/fahrt'],
  [200, 403, 'POST', '/api/fahrt/ende /api/stopp'],
  [200, 200, 'GET', '/api/chassis/state /api/chassis/maps /api/chassis/maps/7 /api/health /api/verlauf'],
  [200, 200, 'GET', '/api/vorfaelle /assets/style.css /assets/main.js /api/wartung/sitzung'],
  [200, 200, 'HEAD', '/api/events'],
  [401, 403, 'POST', '/api/cloud/pruefung /api/protokolle/stufe /api/stopp/freigabe /api/abmeldung/alle /api/pose'],
  [401, 403, 'POST', '/api/versuch /api/versuch/lebenszeichen /api/evidenz/uebernahme /api/medien'],
  [401, 403, 'POST', '/api/medien/none.png/loeschen'],
  [401, 403, 'GET', '/api/protokolle/stufe /api/versuch'],
  [401, 403, 'DELETE', '/api/stopp /api/anmeldung/alle /api/versuch /api/medien/none.png'],
  [401, 401, 'GET', '/api/vorfaelle/7 /api/einstellungen /api/protokolle /api/wartung/sitzungen'],
  [404, 403, 'GET', '/assets/other.css /api/medien/none.png /api/chassis/maps/99.png /api/unknown /favicon.ico'],
  [404, 403, 'PUT', '/api/nachbarn'],
  [404, 403, 'OPTIONS', '/'],
  [409, 403, 'DELETE', '/api/wartung/sitzung'],
  [409, 403, 'POST', '/api/wartung/sitzung/ende /api/touren/lauf/pause'],
  [400, 403, 'POST', '/api/fahrt /api/touren/lauf/weiter /api/touren/lauf/lebenszeichen /api/fahrt/lebenszeichen'],
  [400, 403, 'POST', '/api/fahrt/gesehen /api/lieferung/warteschlange /api/lieferung/warteschlange/entfernen'],
  [400, 403, 'POST', '/api/lieferung/ansage'],
  [409, 403, 'POST', '/api/lieferung/weiter /api/lieferung/automatik'],
  [200, 403, 'POST', '/api/lieferung/ansage/ende'],
  [401, 401, 'GET', '/api/lieferungen'],
  [303, 403, 'POST', '/api/abmeldung'],
  [404, 404, 'GET', '/api/chassis/maps/99'],
];

export const routes: readonly (readonly [method: string, path: string, full: number, readOnly: number])[] = [
  ...specifiedRoutes,
  ...ownRoutes.flatMap(([full, readOnly, method, paths]) =>
    paths.split(' ').map((path) => [method, path, full, readOnly] as const),
  ),
];
