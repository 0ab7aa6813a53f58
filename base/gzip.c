/* SPDX-License-Identifier: Apache-2.0 */
/* gzip over zlib. */
#include "base/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/error.h"
#include "base/text.h"

/* zlib's manual: 15 is the largest window, 16 more ask for the gzip wrapper. */
enum { WINDOW_GZIP = 15 + 16, CHUNK = 1 << 16 };

bool yoke_gzip_is(const char *data, size_t size)
{
    return size >= 2 && (unsigned char)data[0] == 0x1F && (unsigned char)data[1] == 0x8B;
}

/* Feeds no more than zlib can count. */
static void feed(z_stream *stream, const char *data, size_t size, size_t *used)
{
    size_t left = size - *used;
    size_t piece = left < INT_MAX ? left : INT_MAX;
    stream->next_in = (Bytef *)(data + *used);
    stream->avail_in = (uInt)piece;
    *used += piece;
}

static yoke_status_t fail_damaged(const char *name, const z_stream *stream, int code)
{
    if (code == Z_MEM_ERROR)
        return yoke_fail_memory();
    return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: the compressed data is %s%s%s", name,
                     code == Z_BUF_ERROR ? "cut off" : "damaged",
                     stream->msg != NULL ? ": " : "",
                     stream->msg != NULL ? stream->msg : "");
}

static yoke_status_t unpack_all(const char *name, z_stream *stream, const char *data,
                                size_t size, size_t limit, yoke_text_t *out)
{
    char *chunk = malloc(CHUNK);
    size_t used = 0;
    int code = Z_OK;
    yoke_status_t status = chunk != NULL ? YOKE_OK : yoke_fail_memory();
    while (status == YOKE_OK) {
        if (stream->avail_in == 0 && used < size)
            feed(stream, data, size, &used);
        stream->next_out = (Bytef *)chunk;
        stream->avail_out = CHUNK;
        code = inflate(stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END) {
            status = fail_damaged(name, stream, code);
            break;
        }
        yoke_text_add_bytes(out, chunk, CHUNK - stream->avail_out);
        if (out->failed)
            status = yoke_fail_memory();
        else if (out->size > limit)
            status = yoke_fail(YOKE_ERR_BAD_INPUT,
                               "%s: larger than %zu bytes when unpacked", name, limit);
        else if (code == Z_STREAM_END) {
            if (stream->avail_in == 0 && used == size)
                break;
            if (inflateReset(stream) != Z_OK)
                status = fail_damaged(name, stream, Z_DATA_ERROR);
        }
    }
    free(chunk);
    return status;
}

yoke_status_t yoke_gzip_unpack(const char *name, const char *data, size_t size,
                               size_t limit, char **out_data, size_t *out_size)
{
    z_stream stream = {0};
    yoke_text_t text = {0};
    if (inflateInit2(&stream, WINDOW_GZIP) != Z_OK)
        return yoke_fail_memory();
    yoke_status_t status = unpack_all(name, &stream, data, size, limit, &text);
    inflateEnd(&stream);
    if (status == YOKE_OK) {
        yoke_text_add(&text, "");
        if (text.data == NULL)
            text.data = calloc(1, 1);
        if (text.failed || text.data == NULL)
            status = yoke_fail_memory();
    }
    if (status != YOKE_OK) {
        yoke_text_free(&text);
        return status;
    }
    *out_data = text.data;
    *out_size = text.size;
    return YOKE_OK;
}

yoke_status_t yoke_gzip_pack(const char *data, size_t size, char **out_data,
                             size_t *out_size)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return yoke_fail_memory();
    yoke_text_t text = {0};
    char *chunk = malloc(CHUNK);
    size_t used = 0;
    int code = Z_OK;
    while (chunk != NULL && code == Z_OK) {
        if (stream.avail_in == 0 && used < size)
            feed(&stream, data, size, &used);
        stream.next_out = (Bytef *)chunk;
        stream.avail_out = CHUNK;
        code = deflate(&stream, used < size ? Z_NO_FLUSH : Z_FINISH);
        yoke_text_add_bytes(&text, chunk, CHUNK - stream.avail_out);
    }
    deflateEnd(&stream);
    free(chunk);
    if (chunk == NULL || text.failed || code != Z_STREAM_END) {
        yoke_text_free(&text);
        return yoke_fail_memory();
    }
    *out_data = text.data;
    *out_size = text.size;
    return YOKE_OK;
}
