// The host program of a random program: `PROGRAM INPUT OUTPUT` runs it on the words of a file, which are its input and the room of its output.
int main(int, char **words) {
  static u32 data[1 << 20];
  FILE *file = fopen(words[1], "rb");
  if (!file) return 1;
  size_t count = fread(data, 4, sizeof(data) / 4, file);
  fclose(file);
  run_all(data);
  file = fopen(words[2], "wb");
  if (!file || fwrite(data, 4, count, file) != count) return 1;
  return fclose(file);
}
