/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does compression cost accuracy? A small real training, data parallel: predict the next
 * character of a text from the eight before it (embedding, one hidden layer, softmax),
 * with a dense all-reduce of the gradients, with the compressor, and with the compressor
 * without error feedback, from the same start and over the same samples. Prints the loss
 * on held-out text for each seed, the differences from dense with their 95 % confidence
 * interval, and the counted bytes.
 *
 * usage: comm_training [--ranks N] [--steps N] [--seeds N] [--budget B] [--sample]
 * FILE... The ranks are threads of this process, each with a communicator of its own.
 */

#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "yoke/compress.h"

enum { CONTEXT = 8, VOCABULARY = 96, EMBEDDING = 12, HIDDEN = 64, BATCH = 32 };
enum { INPUT = CONTEXT * EMBEDDING };

typedef struct model {
    float embedding[VOCABULARY][EMBEDDING];
    float first[INPUT][HIDDEN], first_bias[HIDDEN];
    float second[HIDDEN][VOCABULARY], second_bias[VOCABULARY];
} model_t;

#define PARAMETERS (sizeof(model_t) / sizeof(float))

static struct {
    int ranks, steps, seeds;
    double budget, rate;
    yoke_compress_method_t method;
    unsigned char *text;
    size_t length, held_out; /* held_out: where the text that is not trained on begins */
} settings = {.ranks = 4, .steps = 2500, .seeds = 5, .rate = 0.05};

/* --- the model --------------------------------------------------------------------- */

typedef struct activations {
    float input[INPUT], hidden[HIDDEN], chances[VOCABULARY];
} activations_t;

static double forward(const model_t *model, const unsigned char *text, activations_t *a)
{
    for (int i = 0; i < CONTEXT; i++)
        memcpy(a->input + i * EMBEDDING, model->embedding[text[i]],
               sizeof model->embedding[0]);
    memcpy(a->hidden, model->first_bias, sizeof a->hidden);
    for (int i = 0; i < INPUT; i++)
        for (int j = 0; j < HIDDEN; j++)
            a->hidden[j] += a->input[i] * model->first[i][j];
    for (int j = 0; j < HIDDEN; j++)
        a->hidden[j] = tanhf(a->hidden[j]);
    memcpy(a->chances, model->second_bias, sizeof a->chances);
    for (int i = 0; i < HIDDEN; i++)
        for (int j = 0; j < VOCABULARY; j++)
            a->chances[j] += a->hidden[i] * model->second[i][j];
    float largest = a->chances[0], sum = 0;
    for (int j = 1; j < VOCABULARY; j++)
        largest = fmaxf(largest, a->chances[j]);
    for (int j = 0; j < VOCABULARY; j++)
        sum += a->chances[j] = expf(a->chances[j] - largest);
    for (int j = 0; j < VOCABULARY; j++)
        a->chances[j] /= sum;
    return -log((double)a->chances[text[CONTEXT]] + 1e-30);
}

static void backward(const model_t *model, const unsigned char *text, activations_t *a,
                     model_t *gradient)
{
    float *out = a->chances;
    float hidden[HIDDEN];
    out[text[CONTEXT]] -= 1;
    for (int j = 0; j < VOCABULARY; j++) {
        out[j] /= BATCH;
        gradient->second_bias[j] += out[j];
    }
    for (int i = 0; i < HIDDEN; i++) {
        float sum = 0;
        for (int j = 0; j < VOCABULARY; j++) {
            gradient->second[i][j] += a->hidden[i] * out[j];
            sum += model->second[i][j] * out[j];
        }
        hidden[i] = sum * (1 - a->hidden[i] * a->hidden[i]);
        gradient->first_bias[i] += hidden[i];
    }
    for (int i = 0; i < INPUT; i++) {
        float sum = 0;
        for (int j = 0; j < HIDDEN; j++) {
            gradient->first[i][j] += a->input[i] * hidden[j];
            sum += model->first[i][j] * hidden[j];
        }
        gradient->embedding[text[i / EMBEDDING]][i % EMBEDDING] += sum;
    }
}

/* --- one run ----------------------------------------------------------------------- */

typedef enum mode { DENSE, COMPRESSED, NO_FEEDBACK, MODES } training_mode_t;

typedef struct run {
    yoke_comm_id_t id;
    training_mode_t mode;
    uint64_t seed;
    double loss;  /* on the held-out text */
    double share; /* bytes sent of dense ones, the highest of the ranks */
    pthread_mutex_t lock;
} run_t;

typedef struct member {
    run_t *run;
    int rank;
} member_t;

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull; /* SplitMix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static float uniform(uint64_t *state, float size)
{
    return size * (float)((double)(next_random(state) >> 11) * 0x1p-52 - 1);
}

static void start(model_t *model, uint64_t seed)
{
    memset(model, 0, sizeof *model);
    for (size_t i = 0; i < sizeof model->embedding / sizeof(float); i++)
        ((float *)model->embedding)[i] = uniform(&seed, 0.5F);
    for (size_t i = 0; i < sizeof model->first / sizeof(float); i++)
        ((float *)model->first)[i] = uniform(&seed, 1 / sqrtf(INPUT));
    for (size_t i = 0; i < sizeof model->second / sizeof(float); i++)
        ((float *)model->second)[i] = uniform(&seed, 1 / sqrtf(HIDDEN));
}

static void must(yoke_status_t status)
{
    if (status == YOKE_OK)
        return;
    fprintf(stderr, "comm_training: %s\n", yoke_last_error());
    exit(4);
}

static double held_out_loss(const model_t *model)
{
    activations_t a;
    double sum = 0;
    size_t n = 0;
    for (size_t at = settings.held_out; at + CONTEXT < settings.length; at++, n++)
        sum += forward(model, settings.text + at, &a);
    return sum / (double)n;
}

static void train(yoke_comm_t *comm, yoke_compressor_t *compressor, const member_t *me,
                  model_t *model)
{
    static const float momentum = 0.9F;
    model_t *gradient = malloc(sizeof *gradient);
    float *speed = calloc(PARAMETERS, sizeof *speed);
    if (gradient == NULL || speed == NULL)
        exit(4);
    activations_t a;
    uint64_t state = me->run->seed * 1000 + (uint64_t)me->rank;
    for (int step = 0; step < settings.steps; step++) {
        memset(gradient, 0, sizeof *gradient);
        for (int i = 0; i < BATCH; i++) {
            const unsigned char *sample =
                settings.text + next_random(&state) % (settings.held_out - CONTEXT - 1);
            forward(model, sample, &a);
            backward(model, sample, &a, gradient);
        }
        yoke_comm_buffer_t place = yoke_comm_host(gradient);
        must(compressor != NULL
                 ? yoke_compressor_all_reduce(compressor, place, place, YOKE_REDUCE_AVG)
                 : yoke_comm_all_reduce(comm, place, place, PARAMETERS, YOKE_ELEMENT_F32,
                                        YOKE_REDUCE_AVG, NULL));
        float rate = (float)settings.rate * 0.5F *
                     (1 + cosf(3.14159265F * (float)step / (float)settings.steps));
        for (size_t i = 0; i < PARAMETERS; i++) {
            speed[i] = momentum * speed[i] + ((const float *)gradient)[i];
            ((float *)model)[i] -= rate * speed[i];
        }
    }
    free(gradient);
    free(speed);
}

static void *rank_main(void *argument)
{
    member_t *me = argument;
    run_t *run = me->run;
    yoke_comm_t *comm;
    yoke_compressor_t *compressor = NULL;
    must(yoke_comm_create_from_id(&run->id, settings.ranks, me->rank, NULL, &comm));
    if (run->mode != DENSE) {
        yoke_compressor_options_t options = {
            .struct_size = sizeof options,
            .method = settings.method,
            .budget = settings.budget,
            .flags = YOKE_COMPRESS_ALWAYS |
                     (run->mode == NO_FEEDBACK ? YOKE_COMPRESS_NO_FEEDBACK : 0),
            .seed = run->seed,
        };
        must(yoke_compressor_create(comm, PARAMETERS, YOKE_ELEMENT_F32, &options,
                                    &compressor));
    }
    model_t *model = malloc(sizeof *model);
    if (model == NULL)
        exit(4);
    start(model, run->seed);
    train(comm, compressor, me, model);
    double loss = me->rank == 0 ? held_out_loss(model) : 0;
    pthread_mutex_lock(&run->lock);
    if (me->rank == 0)
        run->loss = loss;
    if (compressor != NULL) {
        yoke_compressor_statistics_t statistics = {.struct_size = sizeof statistics};
        yoke_compressor_statistics(compressor, &statistics);
        double share = (double)statistics.sent_bytes / (double)statistics.dense_bytes;
        run->share = fmax(run->share, share);
    }
    pthread_mutex_unlock(&run->lock);
    free(model);
    yoke_compressor_destroy(compressor);
    must(yoke_comm_barrier(comm, NULL)); /* nobody leaves while another still receives */
    yoke_comm_destroy(comm);
    return NULL;
}

static void make_run(run_t *run)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    member_t members[MOST];
    pthread_mutex_init(&run->lock, NULL);
    must(yoke_comm_id_create(settings.ranks, NULL, &run->id));
    for (int i = 0; i < settings.ranks; i++) {
        members[i] = (member_t){run, i};
        if (pthread_create(&threads[i], NULL, rank_main, &members[i]) != 0)
            exit(4);
    }
    for (int i = 0; i < settings.ranks; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&run->lock);
}

/* --- text, options, results -------------------------------------------------------- */

static void read_text(char **files, int count)
{
    for (int i = 0; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        if (file == NULL) {
            perror(files[i]);
            exit(3);
        }
        fseek(file, 0, SEEK_END);
        size_t size = (size_t)ftell(file);
        rewind(file);
        settings.text = realloc(settings.text, settings.length + size + 1);
        if (settings.text == NULL)
            exit(4);
        settings.length += fread(settings.text + settings.length, 1, size, file);
        fclose(file);
    }
    for (size_t i = 0; i < settings.length; i++) {
        unsigned char c = settings.text[i];
        settings.text[i] = c >= 32 && c < 127 ? (unsigned char)(c - 31) : 0;
    }
    settings.held_out = settings.length / 10 * 9;
    if (settings.length < 10000) {
        fprintf(stderr, "comm_training: %zu characters: give at least 10,000\n",
                settings.length);
        exit(2);
    }
}

static void difference(const char *name, const double (*losses)[MODES], int mode)
{
    /* two-sided 95 % points of Student's t, for 1 to 9 degrees of freedom */
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                               2.447,  2.365, 2.306, 2.262};
    int n = settings.seeds;
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++)
        mean += (losses[i][mode] / losses[i][DENSE] - 1) / n;
    for (int i = 0; i < n; i++) {
        double d = losses[i][mode] / losses[i][DENSE] - 1 - mean;
        square += d * d;
    }
    double half = n > 1 ? t[n - 2] * sqrt(square / (n - 1) / n) : NAN;
    printf("%-22s %+7.3f %% of dense, 95 %% interval [%+.3f, %+.3f] %%\n", name,
           100 * mean, 100 * (mean - half), 100 * (mean + half));
}

static int usage(void)
{
    fprintf(stderr, "usage: comm_training [--ranks N] [--steps N] [--seeds N (1 to 10)] "
                    "[--budget B] [--rate R] [--sample] FILE...\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"ranks", required_argument, NULL, 'r'},
        {"steps", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'n'},
        {"budget", required_argument, NULL, 'b'},
        {"rate", required_argument, NULL, 'l'},
        {"sample", no_argument, NULL, 'w'},
        {0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'r':
            settings.ranks = atoi(optarg);
            break;
        case 's':
            settings.steps = atoi(optarg);
            break;
        case 'n':
            settings.seeds = atoi(optarg);
            break;
        case 'b':
            settings.budget = atof(optarg);
            break;
        case 'l':
            settings.rate = atof(optarg);
            break;
        case 'w':
            settings.method = YOKE_COMPRESS_SAMPLE;
            break;
        default:
            return usage();
        }
    if (optind == argc || settings.ranks < 1 || settings.ranks > 64 ||
        settings.seeds < 1 || settings.seeds > 10 || settings.steps < 1)
        return usage();
    read_text(argv + optind, argc - optind);
    double losses[10][MODES];
    double share = 0;
    printf("%zu parameters, %d ranks, %d steps, %zu characters\n", PARAMETERS,
           settings.ranks, settings.steps, settings.length);
    printf("seed     dense  compressed  no feedback   (loss on held-out text)\n");
    for (int seed = 0; seed < settings.seeds; seed++) {
        for (int mode = 0; mode < MODES; mode++) {
            run_t run = {.mode = (training_mode_t)mode, .seed = (uint64_t)seed + 1};
            make_run(&run);
            losses[seed][mode] = run.loss;
            share = fmax(share, run.share);
        }
        printf("%4d  %8.5f    %8.5f     %8.5f\n", seed + 1, losses[seed][DENSE],
               losses[seed][COMPRESSED], losses[seed][NO_FEEDBACK]);
        fflush(stdout);
    }
    difference("compressed", losses, COMPRESSED);
    difference("without feedback", losses, NO_FEEDBACK);
    printf("bytes sent             %7.4f of dense (the rank that sent most)\n", share);
    free(settings.text);
    return 0;
}
