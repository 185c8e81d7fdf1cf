/** Source of a value that the probe measured itself. */
export const MEASURED_NOW = 'measured here, now';
