import { cloudViewSchema } from '../../lib/cloud/index.ts';
import { trialAnswerSchema } from '../../lib/motion/index.ts';
import {
  type AnsweredCode,
  answerSchemas as answers,
  gatewayHealthSchema,
  logLevelSchema,
  neighboursSchema,
  requestSchemas as requests,
  settingsSchema,
} from '../../lib/operator/index.ts';
import { deliveryListSchema, incidentListSchema, lastHourSchema } from '../../lib/pages/index.ts';
import { chassisStateSchema } from '../../lib/toolkit/chassis/watch.result.ts';
import { gatewayLogSchema } from '../../lib/toolkit/gateway/gateway.result.ts';
import { sessionListSchema } from '../../lib/toolkit/tunnel/tunnel.result.ts';
import { supportViewSchema } from '../../lib/tunnel/index.ts';
import { bytes, type Contract, forwarded, json, page, redirect } from './contract.ts';

const chassisAway: readonly AnsweredCode[] = [
  'CHASSIS_NOT_CONNECTED',
  'CHASSIS_BOOTING',
  'CHASSIS_WRONG_DEVICE',
  'CHASSIS_BAD_ANSWER',
  'CHASSIS_REFUSED',
];
const read: readonly AnsweredCode[] = [...chassisAway, 'NOT_FOUND', 'BUSY'];
const readMap: readonly AnsweredCode[] = [...read, 'MAP_TOO_LARGE'];
/** Of every order that moves the robot. */
const order: readonly AnsweredCode[] = [
  ...chassisAway,
  'MOTION_REFUSED',
  'MOTION_STOPPED',
  'TOUR_RUNNING',
  'INTERRUPTED',
  'FILE_UNWRITABLE',
];
const startRun: readonly AnsweredCode[] = [...order, 'NOT_SIGNED_IN', 'STATE_OUTDATED'];
/** Of a word that leads to a drive later. */
const sayRun: readonly AnsweredCode[] = ['MOTION_STOPPED', 'NOT_SIGNED_IN', 'STATE_OUTDATED', 'NOT_CONFIGURED'];
const peer: readonly AnsweredCode[] = ['NOT_CONFIGURED', 'PEER_NOT_REACHABLE'];
const endSupport: readonly AnsweredCode[] = ['NOT_CONFIGURED', 'NOT_CONFIRMED'];

const cleared = json(answers.cleared, 'The latch, which no longer holds.');
const clear = { answer: cleared, form: redirect('/'), refusals: ['MOTION_REFUSED', 'FILE_UNWRITABLE'] } as const;
const endRun = { body: requests.end, bodyIsOptional: true } as const;
const keepAlive = {
  body: requests.keepAlive,
  answer: json(answers.kept, 'The client supervises this run.'),
  refusals: ['NOT_FOUND'],
} as const;
const trial = json(trialAnswerSchema, 'The running or the last trial; null before the first one.');

const personAtDelivery = {
  signIn: 'optional',
  answer: json(answers.delivery, 'The deliveries after it.'),
  form: redirect('/'),
} as const;

/** By method and path, as in the OpenAPI document; a route of the table without a row here is an error. */
export const contracts: Readonly<Record<string, Contract>> = {
  'GET /': { id: 'showSurface', query: requests.pageQuery, answer: page('The operator surface.') },
  'GET /service': { id: 'showService', query: requests.pageQuery, answer: page('The technician page.') },
  'GET /medien': {
    id: 'showMedia',
    query: requests.pageQuery,
    answer: page('The media library.'),
  },
  'GET /anmeldung': { id: 'showSignIn', query: requests.pageQuery, answer: page('The form.') },
  'GET /assets/style.css': { id: 'getStyle', answer: bytes('text/css', 'The style.'), refusals: ['NOT_FOUND'] },
  'GET /assets/main.js': { id: 'getScript', answer: bytes('text/javascript', 'The script.'), refusals: ['NOT_FOUND'] },

  'GET /api/nachbarn': { id: 'getNeighbours', answer: json(neighboursSchema, 'The other robots.') },
  'GET /metrics': {
    id: 'getMetrics',
    answer: bytes('text/plain', 'Metrics in the text format of Prometheus.'),
    refusals: ['ON_GATEWAY_ONLY'],
  },
  'GET /api/verlauf': { id: 'getLastHour', answer: json(lastHourSchema, 'The last hour, for charts.') },
  'GET /api/vorfaelle': { id: 'listIncidents', answer: json(incidentListSchema, 'The kept incidents.') },
  'GET /api/vorfaelle/{id}': {
    id: 'getIncident',
    answer: bytes('application/jsonl', 'Three lines: head, body, and the SHA-256 sum of both.'),
    refusals: ['INCIDENT_UNKNOWN', 'INCIDENT_INVALID', 'FILE_UNREADABLE'],
  },
  'GET /api/health': { id: 'getHealth', answer: json(gatewayHealthSchema, 'Health of the whole daemon.') },
  'GET /api/cloud': { id: 'getCloud', answer: json(cloudViewSchema, 'State of the cloud link.') },
  'POST /api/cloud/pruefung': {
    id: 'checkCloudPath',
    body: requests.pathCheck,
    answer: json(answers.pathCheck, 'The step that failed, and the outcome.'),
    refusals: ['NOT_CONFIGURED', 'BUSY'],
  },
  'GET /api/openapi.json': {
    id: 'getOpenApi',
    answer: bytes('application/json', 'This document.'),
    refusals: ['NOT_FOUND'],
  },
  'GET /api/asyncapi.json': {
    id: 'getAsyncApi',
    answer: bytes('application/json', 'The AsyncAPI document of the live events.'),
    refusals: ['NOT_FOUND'],
  },
  'GET /api/events': {
    id: 'followEvents',
    description: 'Server-sent events without end; `GET /api/asyncapi.json` describes them.',
    answer: bytes('text/event-stream', 'The current state at once, then every change.'),
    refusals: ['BUSY'],
  },
  'GET /api/einstellungen': { id: 'getSettings', answer: json(settingsSchema, 'Settings, without secrets.') },
  'GET /api/protokolle': { id: 'getLog', answer: json(gatewayLogSchema, 'The last log events.') },
  'GET /api/protokolle/stufe': { id: 'getLogLevel', answer: json(logLevelSchema, 'The level in force.') },
  'POST /api/protokolle/stufe': {
    id: 'setLogLevel',
    body: requests.logLevel,
    answer: json(logLevelSchema, 'The level in force.'),
  },
  'GET /api/wartung/sitzungen': {
    id: 'listSupportSessions',
    query: requests.sessionsQuery,
    answer: json(sessionListSchema, 'Sessions and refusals, newest first.'),
    refusals: ['NOT_CONFIGURED', 'FILE_UNREADABLE'],
  },
  'GET /api/wartung/sitzung': { id: 'getSupport', answer: json(supportViewSchema, 'State of remote support.') },
  'DELETE /api/wartung/sitzung': {
    id: 'endSupport',
    answer: json(answers.supportEnded, 'Whether a session was ended.'),
    refusals: endSupport,
  },
  'POST /api/wartung/sitzung/ende': {
    id: 'endSupportByForm',
    answer: json(answers.supportEnded, 'Whether a session was ended.'),
    form: page('A page that says so.'),
    refusals: endSupport,
  },

  'GET /api/chassis/device/info': { id: 'getDeviceInfo', answer: forwarded('chassis'), refusals: read },
  'GET /api/chassis/state': { id: 'getChassisState', answer: json(chassisStateSchema, 'Link and live values.') },
  'GET /api/chassis/maps': { id: 'listMaps', query: requests.mapQuery, answer: forwarded('chassis'), refusals: read },
  'GET /api/chassis/maps/{id}': {
    id: 'getMap',
    query: requests.mapQuery,
    answer: forwarded('chassis'),
    refusals: readMap,
  },
  'GET /api/chassis/maps/{id}.png': {
    id: 'getMapImage',
    query: requests.mapQuery,
    answer: bytes('image/png', 'Floor plan image of the chassis, unchanged.'),
    refusals: readMap,
  },
  'GET /api/chatbot/config': { id: 'getVoiceConfig', answer: forwarded('voice service'), refusals: peer },
  'GET /api/uiot/status': {
    id: 'getBuildingStatus',
    answer: bytes(
      '*/*',
      'Answer of the building module, with any status, type and body of its own, at most 1 MiB; gw interprets none of it. A browser runs and loads nothing of it.',
    ),
    refusals: peer,
  },

  'POST /api/anmeldung': {
    id: 'signIn',
    description: 'The session is a cookie of the answer.',
    body: requests.signIn,
    answer: json(answers.signedIn, 'Signed in.'),
    form: redirect('/'),
    refusals: ['NOT_CONFIGURED', 'SIGN_IN_FAILED', 'TOO_MANY_TRIES', 'SIGN_IN_BUSY', 'SIGN_IN_UNAVAILABLE'],
  },
  'DELETE /api/anmeldung': { id: 'signOut', answer: json(answers.signedOut, 'Signed out; also without a session.') },
  'POST /api/abmeldung': { id: 'signOutByForm', answer: redirect('/anmeldung') },
  'DELETE /api/anmeldung/alle': { id: 'signOutAll', answer: json(answers.allSignedOut, 'All sessions ended.') },
  'POST /api/abmeldung/alle': { id: 'signOutAllByForm', answer: redirect('/anmeldung') },

  'GET /api/stopp': { id: 'getStop', answer: json(answers.stopState, 'The latch, and whether the robot stands.') },
  'POST /api/stopp': {
    id: 'stop',
    description: 'Never refused for its body: any other body than this one counts as none.',
    body: requests.stop,
    bodyIsOptional: true,
    answer: json(answers.stopped, 'The stop is latched.'),
    form: redirect('/'),
  },
  'DELETE /api/stopp': { id: 'clearStop', ...clear },
  'POST /api/stopp/freigabe': { id: 'clearStopByForm', ...clear },

  'GET /api/touren': { id: 'listTours', answer: json(answers.tours, 'The tours, and the state of motion.') },
  'GET /api/touren/lauf': { id: 'getTour', answer: json(answers.tour, 'The current or last tour.') },
  'POST /api/touren/lauf': {
    id: 'startTour',
    body: requests.tour,
    signIn: 'optional',
    status: 202,
    answer: json(answers.tour, 'The started run.'),
    form: redirect('/'),
    refusals: [...startRun, 'TOUR_UNKNOWN', 'SITE_FILE_INVALID'],
  },
  'DELETE /api/touren/lauf': { id: 'endTour', ...endRun, answer: json(answers.tour, 'The last tour.') },
  'POST /api/touren/lauf/pause': {
    id: 'pauseTour',
    ...endRun,
    answer: json(answers.tour, 'The tour; still running where the cancel of its move is not confirmed yet.'),
    form: redirect('/'),
    refusals: ['TOUR_NOT_RUNNING'],
  },
  'POST /api/touren/lauf/weiter': {
    id: 'continueTour',
    body: requests.resume,
    signIn: 'optional',
    status: 202,
    answer: json(answers.tour, 'The tour, which drives on to the same station.'),
    form: redirect('/'),
    refusals: [...startRun, 'TOUR_NOT_PAUSED', 'TOUR_UNKNOWN', 'SITE_FILE_INVALID'],
  },
  'POST /api/touren/lauf/lebenszeichen': { id: 'keepTour', ...keepAlive },

  'GET /api/fahrt': { id: 'getDrive', answer: json(answers.drive, 'The current or last single drive.') },
  'POST /api/fahrt': {
    id: 'startDrive',
    body: requests.drive,
    signIn: 'optional',
    status: 202,
    answer: json(answers.drive, 'The started run.'),
    form: redirect('/'),
    refusals: [...startRun, 'STATION_UNKNOWN'],
  },
  'DELETE /api/fahrt': { id: 'endDrive', ...endRun, answer: json(answers.drive, 'The last drive.') },
  'POST /api/fahrt/ende': {
    id: 'endRun',
    answer: json(answers.endedAny, 'The last tour and the last drive.'),
    form: redirect('/'),
  },
  'POST /api/fahrt/gesehen': {
    id: 'seeRun',
    description: 'The failure of this run is no longer the headline of the pages.',
    body: requests.seen,
    answer: json(answers.seen, 'It counts as seen.'),
    form: redirect('/'),
    refusals: ['NOT_FOUND'],
  },
  'POST /api/fahrt/lebenszeichen': { id: 'keepDrive', ...keepAlive },

  'GET /api/lieferungen': {
    id: 'listDeliveries',
    query: requests.daysQuery,
    answer: json(deliveryListSchema, 'Each tour and drive that began since then, the newest first.'),
    refusals: ['FILE_UNREADABLE'],
  },
  'GET /api/lieferung': { id: 'getDelivery', answer: json(answers.delivery, 'Arrival, queue and countdown.') },
  'POST /api/lieferung/weiter': {
    id: 'proceed',
    description: 'With the ids of the arrival and of the next station as they were shown; others are STATE_OUTDATED.',
    body: requests.proceed,
    ...personAtDelivery,
    refusals: [...startRun, 'STATION_UNKNOWN', 'NOT_CONFIGURED'],
  },
  'POST /api/lieferung/warteschlange': {
    id: 'enqueue',
    body: requests.enqueue,
    ...personAtDelivery,
    refusals: [...sayRun, 'STATION_UNKNOWN', 'QUEUE_CLOSED', 'QUEUE_FULL'],
  },
  'POST /api/lieferung/warteschlange/entfernen': {
    id: 'removeQueued',
    body: requests.queued,
    answer: json(answers.delivery, 'What is left.'),
    form: redirect('/'),
    refusals: ['NOT_FOUND'],
  },
  'POST /api/lieferung/ansage': {
    id: 'showCountdown',
    description: 'The countdown goes on only while a page sends this every 2.5 s.',
    body: requests.shown,
    answer: json(answers.shown, 'It counts as shown.'),
    refusals: ['STATE_OUTDATED'],
  },
  'POST /api/lieferung/ansage/ende': {
    id: 'endCountdown',
    description: 'Never refused: nothing begins by itself from here on, until a person says so.',
    body: requests.countdown,
    bodyIsOptional: true,
    answer: json(answers.countdownEnded, 'It does not begin, or is ended.'),
    form: redirect('/'),
  },
  'POST /api/lieferung/automatik': {
    id: 'release',
    body: requests.release,
    bodyIsOptional: true,
    ...personAtDelivery,
    refusals: [...sayRun, 'MOTION_REFUSED'],
  },

  'POST /api/pose': {
    id: 'setPose',
    body: requests.pose,
    answer: json(answers.pose, 'succeeded only when the chassis reports the pose back.'),
    form: page('What became of it.'),
    refusals: [...order, 'STATE_OUTDATED'],
  },

  'GET /api/versuch': { id: 'getTrial', answer: trial },
  'POST /api/versuch': {
    id: 'startTrial',
    body: requests.trial,
    status: 202,
    answer: trial,
    refusals: [...order, 'USAGE', 'SITE_FILE_INVALID'],
  },
  'DELETE /api/versuch': { id: 'cancelTrial', answer: trial },
  'POST /api/versuch/lebenszeichen': {
    id: 'keepTrial',
    body: requests.trialKeepAlive,
    answer: trial,
    refusals: ['NOT_FOUND'],
  },
  'POST /api/evidenz/uebernahme': {
    id: 'adoptEvidence',
    answer: json(answers.adoption, 'What changed.'),
    refusals: ['EVIDENCE_FILE_INVALID', 'FILE_UNREADABLE'],
  },

  'GET /api/medien': { id: 'listMedia', answer: json(answers.media, 'The library.'), refusals: ['FILE_UNREADABLE'] },
  'POST /api/medien': {
    id: 'uploadMedia',
    body: 'upload',
    status: 201,
    answer: json(answers.stored, 'The stored file.'),
    refusals: ['NO_SPACE', 'BUSY', 'FILE_UNWRITABLE'],
  },
  'GET /api/medien/{name}': {
    id: 'getMedia',
    ranges: true,
    answer: bytes('*/*', 'The file; a type that may be harmful is an attachment.'),
    refusals: ['NOT_FOUND', 'BUSY', 'FILE_UNREADABLE'],
  },
  'POST /api/medien/{name}/loeschen': {
    id: 'deleteMediaForm',
    answer: json(answers.deleted, 'The file is gone.'),
    form: redirect('/medien'),
    refusals: ['NOT_FOUND', 'FILE_UNWRITABLE'],
  },
  'DELETE /api/medien/{name}': {
    id: 'deleteMedia',
    answer: json(answers.deleted, 'The file is gone.'),
    refusals: ['NOT_FOUND', 'FILE_UNWRITABLE'],
  },
};
