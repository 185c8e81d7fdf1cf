/** CA certificate of the simulated cloud, in the folder of the simulator. */
export const CA_FILE = 'enrolment-ca.pem';
