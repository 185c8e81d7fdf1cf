/**
 * Evidence marks; the names are those of the platform.
 * - BELEGT: measured on the one test device.
 * - HINWEIS: from a vendor description, to be verified on the device before use.
 * - VORSICHT: plausible, without evidence; must not drive any decision that triggers movement.
 * - OFFEN: unknown; the number is passed through and no meaning is asserted.
 * @source specification, 'Evidence marks'
 */
export const marks = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const;
export type Mark = (typeof marks)[number];

/** Lower is better evidence. */
export const markRank: Readonly<Record<Mark, number>> = { BELEGT: 0, HINWEIS: 1, VORSICHT: 2, OFFEN: 3 };
