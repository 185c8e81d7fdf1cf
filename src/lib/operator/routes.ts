import type { Handlers } from './handlers.ts';

/** One row of the route table. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In the router's notation. */
  readonly path: string;
  /** Whether it is on the allow list of the read-only socket. */
  readonly readOnly: boolean;
  /** Whether it needs a session; without one the answer is 401, and the read-only socket never has one. */
  readonly signedIn: boolean;
  readonly meaning: string;
  /** Only for programs on the gateway: the local socket, and loopback connections to the full one. */
  readonly onGateway?: true;
  /** Accepts any body or none: a stop is never refused for its body. */
  readonly anyBody?: true;
  /** Never refused for the robot that the client means: it stops, ends, or takes access away. */
  readonly forAnyRobot?: true;
  /** Handled before all other requests. */
  readonly isUrgent?: true;
  /** The body is multipart/form-data with one file. */
  readonly upload?: true;
  /** Lets the robot move, or decides what it moves by: a command sends it only to a gateway that has named its robot. */
  readonly isOrder?: true;
  /** How long a command waits for the answer, in milliseconds; absent: as for any other. */
  readonly answersWithinMs?: number;
  readonly handler: HandlerName;
}

/** A handler by its group and name. */
export type HandlerName = { [G in keyof Handlers]: `${G}.${string & keyof Handlers[G]}` }[keyof Handlers];

/** Letters, digits, - and _, since it becomes part of a chassis path. */
const MAP_ID = ':id(^[A-Za-z0-9_-]{1,64}$)';
const MAP_ID_PNG = ':id(^[A-Za-z0-9_-]{1,64}).png';

const open = { readOnly: true, signedIn: false } as const;
const onSite = { readOnly: false, signedIn: false } as const;
const personal = { readOnly: true, signedIn: true } as const;
const personalAct = { readOnly: false, signedIn: true } as const;

/**
 * Every route of the operator server, for the server itself, its published contract and the commands that ask it. The allow
 * list of the read-only socket is the column `readOnly` of this table.
 * @source specification, 'Operator server', for the routes it names; the others are project decisions
 */
export const routes: readonly Route[] = [
  { method: 'GET', path: '/', ...open, meaning: 'Operator surface', handler: 'pages.surface' },
  { method: 'GET', path: '/service', ...open, meaning: 'Technician page', handler: 'pages.service' },
  { method: 'GET', path: '/medien', ...onSite, meaning: 'Media page', handler: 'media.page' },
  { method: 'GET', path: '/anmeldung', ...onSite, meaning: 'Sign-in form', handler: 'pages.signIn' },
  { method: 'GET', path: '/assets/style.css', ...open, meaning: 'Style of the pages', handler: 'pages.style' },
  { method: 'GET', path: '/assets/main.js', ...open, meaning: 'Script of the pages', handler: 'pages.script' },

  { method: 'GET', path: '/api/nachbarn', ...open, meaning: 'Other robots', handler: 'gateway.neighbours' },
  { method: 'GET', path: '/api/health', ...open, meaning: 'Health of the daemon', handler: 'gateway.health' },
  {
    method: 'GET',
    path: '/metrics',
    ...onSite,
    onGateway: true,
    meaning: 'Metrics (Prometheus)',
    handler: 'gateway.metrics',
  },
  { method: 'GET', path: '/api/cloud', ...onSite, meaning: 'State of the cloud link', handler: 'cloud.read' },
  {
    method: 'POST',
    path: '/api/cloud/pruefung',
    ...personalAct,
    meaning: 'Prove a path to the broker by the cloud link',
    handler: 'cloud.checkPath',
  },
  {
    method: 'GET',
    path: '/api/openapi.json',
    ...onSite,
    meaning: 'Contract of these routes (OpenAPI)',
    handler: 'contract.openapi',
  },
  {
    method: 'GET',
    path: '/api/asyncapi.json',
    ...onSite,
    meaning: 'Contract of the live events (AsyncAPI)',
    handler: 'contract.asyncapi',
  },
  { method: 'GET', path: '/api/events', ...open, meaning: 'Live events', handler: 'gateway.events' },
  { method: 'GET', path: '/api/verlauf', ...open, meaning: 'The last hour', handler: 'gateway.lastHour' },
  { method: 'GET', path: '/api/vorfaelle', ...open, meaning: 'List of incidents', handler: 'incidents.list' },
  {
    method: 'GET',
    path: '/api/vorfaelle/:id(^[0-9]{1,9}$)',
    ...personal,
    meaning: 'An incident as a file',
    handler: 'incidents.file',
  },
  { method: 'GET', path: '/api/einstellungen', ...personal, meaning: 'Settings', handler: 'gateway.settings' },
  { method: 'GET', path: '/api/protokolle', ...personal, meaning: 'Last log events', handler: 'gateway.logs' },
  {
    method: 'GET',
    path: '/api/protokolle/stufe',
    ...personalAct,
    meaning: 'Level of the log',
    handler: 'logLevel.read',
  },
  {
    method: 'POST',
    path: '/api/protokolle/stufe',
    ...personalAct,
    meaning: 'Change the level of the log for a while',
    handler: 'logLevel.set',
  },
  {
    method: 'GET',
    path: '/api/wartung/sitzungen',
    ...personal,
    meaning: 'Support sessions',
    handler: 'support.list',
  },
  {
    method: 'GET',
    path: '/api/wartung/sitzung',
    ...open,
    meaning: 'State of remote support',
    handler: 'support.state',
  },
  {
    method: 'DELETE',
    path: '/api/wartung/sitzung',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the support session',
    handler: 'support.end',
  },
  {
    method: 'POST',
    path: '/api/wartung/sitzung/ende',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the support session, for forms',
    handler: 'support.endForm',
  },

  {
    method: 'GET',
    path: '/api/chassis/device/info',
    ...open,
    meaning: 'Chassis state (forwarded)',
    handler: 'chassis.deviceInfo',
  },
  { method: 'GET', path: '/api/chassis/state', ...open, meaning: 'Live state with ages', handler: 'chassis.state' },
  { method: 'GET', path: '/api/chassis/maps', ...open, meaning: 'List of maps (forwarded)', handler: 'chassis.maps' },
  {
    method: 'GET',
    path: `/api/chassis/maps/${MAP_ID}`,
    ...open,
    meaning: 'A map as data (forwarded)',
    handler: 'chassis.map',
  },
  {
    method: 'GET',
    path: `/api/chassis/maps/${MAP_ID_PNG}`,
    ...onSite,
    meaning: 'Floor plan image (forwarded)',
    handler: 'chassis.mapImage',
  },

  {
    method: 'GET',
    path: '/api/chatbot/config',
    ...onSite,
    meaning: 'Voice service (forwarded)',
    handler: 'peers.voiceService',
  },
  {
    method: 'GET',
    path: '/api/uiot/status',
    ...onSite,
    meaning: 'Building module (forwarded)',
    handler: 'peers.building',
  },

  { method: 'POST', path: '/api/anmeldung', ...onSite, meaning: 'Sign in', handler: 'session.signIn' },
  {
    method: 'DELETE',
    path: '/api/anmeldung',
    ...onSite,
    forAnyRobot: true,
    meaning: 'Sign out',
    handler: 'session.signOut',
  },
  { method: 'POST', path: '/api/abmeldung', ...onSite, meaning: 'Sign out, for forms', handler: 'session.signOutForm' },
  {
    method: 'DELETE',
    path: '/api/anmeldung/alle',
    ...personalAct,
    meaning: 'End all sessions',
    handler: 'session.signOutAll',
  },
  {
    method: 'POST',
    path: '/api/abmeldung/alle',
    ...personalAct,
    meaning: 'End all sessions, for forms',
    handler: 'session.signOutAllForm',
  },

  { method: 'GET', path: '/api/stopp', ...onSite, meaning: 'The stop latch', handler: 'stop.read' },
  {
    method: 'POST',
    path: '/api/stopp',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    isUrgent: true,
    meaning: 'Stop the robot',
    handler: 'stop.stop',
  },
  {
    method: 'DELETE',
    path: '/api/stopp',
    ...personalAct,
    isOrder: true,
    meaning: 'Clear the stop',
    handler: 'stop.clear',
  },
  {
    method: 'POST',
    path: '/api/stopp/freigabe',
    ...personalAct,
    isOrder: true,
    meaning: 'Clear the stop, for forms',
    handler: 'stop.clear',
  },

  { method: 'GET', path: '/api/touren', ...onSite, meaning: 'Tours of the site file', handler: 'tours.list' },
  { method: 'GET', path: '/api/touren/lauf', ...onSite, meaning: 'The current or last tour', handler: 'tours.current' },
  {
    method: 'POST',
    path: '/api/touren/lauf',
    ...onSite,
    isOrder: true,
    meaning: 'Start a tour',
    handler: 'tours.start',
  },
  {
    method: 'DELETE',
    path: '/api/touren/lauf',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the tour',
    handler: 'tours.end',
  },
  {
    method: 'POST',
    path: '/api/touren/lauf/pause',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'Pause the tour',
    handler: 'tours.pause',
  },
  {
    method: 'POST',
    path: '/api/touren/lauf/weiter',
    ...onSite,
    isOrder: true,
    meaning: 'Continue the paused tour',
    handler: 'tours.resume',
  },

  {
    method: 'POST',
    path: '/api/touren/lauf/lebenszeichen',
    ...onSite,
    meaning: 'Keep-alive of the tour, from its client',
    handler: 'tours.keepAlive',
  },

  {
    method: 'GET',
    path: '/api/fahrt',
    ...onSite,
    meaning: 'The current or last single drive',
    handler: 'drives.current',
  },
  {
    method: 'POST',
    path: '/api/fahrt',
    ...onSite,
    isOrder: true,
    meaning: 'Drive to a station or to the dock',
    handler: 'drives.start',
  },
  {
    method: 'DELETE',
    path: '/api/fahrt',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the drive',
    handler: 'drives.end',
  },
  {
    method: 'POST',
    path: '/api/fahrt/ende',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the drive or the tour, for forms',
    handler: 'drives.endAny',
  },
  {
    method: 'POST',
    path: '/api/fahrt/gesehen',
    ...onSite,
    meaning: 'A person has seen how the last failed run ended; for forms too',
    handler: 'drives.seen',
  },
  {
    method: 'POST',
    path: '/api/fahrt/lebenszeichen',
    ...onSite,
    meaning: 'Keep-alive of the drive, from its client',
    handler: 'drives.keepAlive',
  },

  { method: 'GET', path: '/api/lieferungen', ...personal, meaning: 'What the robot drove', handler: 'delivery.days' },
  { method: 'GET', path: '/api/lieferung', ...onSite, meaning: 'Arrival, queue, countdown', handler: 'delivery.read' },
  {
    method: 'POST',
    path: '/api/lieferung/weiter',
    ...onSite,
    isOrder: true,
    meaning: 'The arrival is over; the next station of the queue begins',
    handler: 'delivery.proceed',
  },
  {
    method: 'POST',
    path: '/api/lieferung/warteschlange',
    ...onSite,
    isOrder: true,
    meaning: 'Put a station in the queue',
    handler: 'delivery.enqueue',
  },
  {
    method: 'POST',
    path: '/api/lieferung/warteschlange/entfernen',
    ...onSite,
    meaning: 'Remove a station from the queue; for forms too',
    handler: 'delivery.remove',
  },
  {
    method: 'POST',
    path: '/api/lieferung/ansage',
    ...onSite,
    meaning: 'A page shows the countdown',
    handler: 'delivery.shown',
  },
  {
    method: 'POST',
    path: '/api/lieferung/ansage/ende',
    ...onSite,
    anyBody: true,
    forAnyRobot: true,
    meaning: 'End the movement that begins by itself; for forms too',
    handler: 'delivery.endCountdown',
  },
  {
    method: 'POST',
    path: '/api/lieferung/automatik',
    ...onSite,
    isOrder: true,
    meaning: 'Movements may begin by themselves again',
    handler: 'delivery.release',
  },

  {
    method: 'POST',
    path: '/api/pose',
    ...personalAct,
    answersWithinMs: 45_000,
    isOrder: true,
    meaning: 'Set the pose of the robot',
    handler: 'pose.set',
  },

  { method: 'GET', path: '/api/versuch', ...personalAct, meaning: 'The running or last trial', handler: 'trial.read' },
  {
    method: 'POST',
    path: '/api/versuch',
    ...personalAct,
    isOrder: true,
    meaning: 'Start a trial',
    handler: 'trial.start',
  },
  {
    method: 'DELETE',
    path: '/api/versuch',
    ...personalAct,
    forAnyRobot: true,
    meaning: 'Cancel the trial',
    handler: 'trial.cancel',
  },
  {
    method: 'POST',
    path: '/api/versuch/lebenszeichen',
    ...personalAct,
    meaning: 'Keep-alive of the trial, from its client',
    handler: 'trial.keepAlive',
  },
  {
    method: 'POST',
    path: '/api/evidenz/uebernahme',
    ...personalAct,
    isOrder: true,
    meaning: 'Adopt the current evidence file',
    handler: 'evidence.adopt',
  },

  { method: 'GET', path: '/api/medien', ...onSite, meaning: 'Media library', handler: 'media.list' },
  {
    method: 'POST',
    path: '/api/medien',
    ...personalAct,
    upload: true,
    meaning: 'Upload a file',
    handler: 'media.upload',
  },
  { method: 'GET', path: '/api/medien/:name', ...onSite, meaning: 'A media file', handler: 'media.download' },
  { method: 'DELETE', path: '/api/medien/:name', ...personalAct, meaning: 'Delete a file', handler: 'media.remove' },
  {
    method: 'POST',
    path: '/api/medien/:name/loeschen',
    ...personalAct,
    meaning: 'Delete a file, for forms',
    handler: 'media.removeForm',
  },
];

/**
 * Serial number of the robot that a client means, on requests of a gw command; of the robot of this gateway, on every
 * answer. A client without it, such as the pages that this gateway serves, means the robot of this gateway.
 */
export const ROBOT_HEADER = 'gw-robot';
