/**
 * The face of the gateway: one view model with its schema, texts in German and English, and the components that the server
 * renders and the browser hydrates. It knows no state of the robot but the view model.
 */

export {
  type DeliveryList,
  deliveryListSchema,
  type ListedDelivery,
  listedDeliverySchema,
} from './delivery/day-list.ts';
export { type DeliveryShown, deliveryViewSchema } from './delivery/delivery-model.ts';
export {
  type Cause,
  causeSchema,
  type IncidentBody,
  type IncidentHead,
  type IncidentList,
  incidentBodySchema,
  incidentHeadSchema,
  incidentListSchema,
  type KeptMap,
  type KeptPose,
  type Scene,
} from './incident/incident-model.ts';
export { causeTexts, incidentEventTexts } from './incident/incident-texts.ts';
export { type LastHour, lastHourSchema } from './last-hour.ts';
export type { MediaLibraryView } from './media/media-model.ts';
export type { Cell, FailedRun, Lamp, LampId, Live, Note, PageState, Posed, Run } from './model.ts';
export {
  failedRunSchema,
  headlineCodes,
  lampIds,
  lampLevels,
  pageStateSchema,
  posedSchema,
} from './model.ts';
export {
  mediaPage,
  refusedPage,
  servicePage,
  setPosePage,
  signInPage,
  supportEndedPage,
  surfacePage,
  unknownPage,
} from './render.tsx';
export { orderEnd } from './service/pose-draft.ts';
export { languageOf } from './texts/catalogue.ts';
export { stateTexts } from './texts/state-texts.ts';
export type { LabelCode, WordCode } from './texts/texts.ts';
export { titleSchema } from './title-schema.ts';
export { readChoice, type Viewer } from './viewer.ts';
