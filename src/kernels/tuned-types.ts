/** The types of elements for which there are several kernels, apart from what makes them: the command line lists them before it loads kernels. */
export const tunedTypes = ['f32', 'f16', 'bf16', 'tf32', 'f64'] as const;

/** A type of elements for which there are several kernels. */
export type TunedType = (typeof tunedTypes)[number];
