import type { ZodType } from 'zod';

/**
 * The result schema of every command, by command id. Only the generator of schemas/ and the tests load this file:
 * a command itself carries the name of its schema, not the schema.
 */
export const resultSchemas: Readonly<Record<string, () => Promise<ZodType>>> = {
  'chassis address': async () => (await import('../lib/toolkit/chassis/address.result.ts')).chassisAddressSchema,
  'chassis probe': async () => (await import('../lib/toolkit/chassis/probe.result.ts')).chassisProbeSchema,
  'chassis restart': async () => (await import('../lib/toolkit/chassis/restart.result.ts')).chassisRestartSchema,
  'chassis watch': async () => (await import('../lib/toolkit/chassis/watch.result.ts')).chassisWatchSchema,
  'checklist diff': async () => (await import('../lib/toolkit/checklist/diff.result.ts')).recordDiffSchema,
  'checklist list': async () => (await import('../lib/toolkit/checklist/run.result.ts')).checklistListSchema,
  'checklist report': async () => (await import('../lib/toolkit/checklist/report.result.ts')).recordReportSchema,
  'checklist run': async () => (await import('../lib/toolkit/checklist/run.result.ts')).checklistRunSchema,
  'checklist show': async () => (await import('../lib/toolkit/checklist/run.result.ts')).checklistShowSchema,
  'checklist verify': async () => (await import('../lib/toolkit/checklist/verify.result.ts')).recordVerifySchema,
  demo: async () => (await import('../lib/toolkit/demo/demo.result.ts')).demoSchema,
  enrol: async () => (await import('../lib/toolkit/enrol/enrol.result.ts')).enrolSchema,
  'enrol status': async () => (await import('../lib/toolkit/enrol/enrol.result.ts')).enrolStatusSchema,
  serve: async () => (await import('../lib/gateway/serve.result.ts')).serveEventSchema,
  'evidence adopt': async () => (await import('../lib/toolkit/evidence/verify.result.ts')).evidenceAdoptedSchema,
  'evidence list': async () => (await import('../lib/toolkit/evidence/list.result.ts')).evidenceListSchema,
  'evidence record': async () => (await import('../lib/toolkit/evidence/record.result.ts')).evidenceRecordedSchema,
  'evidence show': async () => (await import('../lib/toolkit/evidence/list.result.ts')).evidenceFactSchema,
  'evidence verify': async () => (await import('../lib/toolkit/evidence/verify.result.ts')).evidenceVerifiedSchema,
  'heartbeat check': async () => (await import('../lib/toolkit/heartbeat/check.result.ts')).heartbeatCheckSchema,
  'heartbeat key new': async () => (await import('../lib/toolkit/heartbeat/key.result.ts')).heartbeatKeySchema,
  'heartbeat send': async () => (await import('../lib/toolkit/heartbeat/send.result.ts')).heartbeatSendSchema,
  'heartbeat sniff': async () => (await import('../lib/toolkit/heartbeat/sniff.result.ts')).heartbeatSniffSchema,
  'kiosk lock': async () => (await import('../lib/toolkit/kiosk/kiosk.result.ts')).kioskLockSchema,
  'kiosk plan': async () => (await import('../lib/toolkit/kiosk/kiosk.result.ts')).kioskPlanSchema,
  'kiosk setup': async () => (await import('../lib/toolkit/kiosk/kiosk.result.ts')).kioskSetupSchema,
  'kiosk status': async () => (await import('../lib/toolkit/kiosk/kiosk.result.ts')).kioskStatusSchema,
  help: async () => (await import('./help.result.ts')).helpSchema,
  'map backup': async () => (await import('../lib/toolkit/map/archive.result.ts')).mapArchiveSchema,
  'map list': async () => (await import('../lib/toolkit/map/list.result.ts')).mapListSchema,
  'map restore': async () => (await import('../lib/toolkit/map/restore.result.ts')).mapRestoreSchema,
  'map select': async () => (await import('../lib/toolkit/map/select.result.ts')).mapSelectSchema,
  'map show': async () => (await import('../lib/toolkit/map/show.result.ts')).mapShowSchema,
  'map verify': async () => (await import('../lib/toolkit/map/archive.result.ts')).mapArchiveSchema,
  'motion clear': async () => (await import('../lib/toolkit/motion/motion.result.ts')).motionClearSchema,
  'motion dock': async () => (await import('../lib/toolkit/motion/motion.result.ts')).motionGoSchema,
  'motion go': async () => (await import('../lib/toolkit/motion/motion.result.ts')).motionGoSchema,
  'motion pose': async () => (await import('../lib/toolkit/motion/motion.result.ts')).motionPoseSchema,
  'motion stop': async () => (await import('../lib/toolkit/motion/motion.result.ts')).motionStopSchema,
  'network check': async () => (await import('../lib/toolkit/network/check.result.ts')).networkCheckSchema,
  'network request': async () => (await import('../lib/toolkit/network/request.result.ts')).networkRequestSchema,
  'operator check': async () => (await import('../lib/toolkit/operator/check.result.ts')).operatorCheckSchema,
  'operator password': async () => (await import('../lib/toolkit/operator/password.result.ts')).operatorPasswordSchema,
  'overlays diff': async () => (await import('../lib/toolkit/overlays/diff.result.ts')).overlaysDiffSchema,
  'overlays inspect': async () => (await import('../lib/toolkit/overlays/inspect.result.ts')).overlaysInspectSchema,
  sim: async () => (await import('../lib/sim/sim.result.ts')).simEventSchema,
  'sim fault': async () => (await import('../lib/sim/sim.result.ts')).simFaultSchema,
  'site check': async () => (await import('../lib/toolkit/site/check.result.ts')).siteCheckSchema,
  'site init': async () => (await import('../lib/toolkit/site/init.result.ts')).siteInitSchema,
  'tour run': async () => (await import('../lib/toolkit/tour/run.result.ts')).tourRunSchema,
  version: async () => (await import('./version.result.ts')).versionSchema,
};

/** Files that gw writes for others to read, by the name of the schema that is published beside those of the results. */
export const fileSchemas: Readonly<Record<string, () => Promise<ZodType>>> = {
  'check-record': async () => (await import('../lib/checklist/record.result.ts')).recordSchema,
};
