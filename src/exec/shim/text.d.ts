/** C sources are imported as text. */
declare module '*.c' {
  const text: string;
  export default text;
}
