"""The quiz questions, lesson by lesson."""

from __future__ import annotations

from course_lib.exercises.model import Option, Question

QUESTIONS = (
    # Lesson 00
    Question(
        name="predict_first",
        lesson="00",
        text=("A batch of 32 grey images of 28 × 28 pixels has the shape (32, 1, 28, 28). How many numbers are that?"),
        options=(
            Option(
                "89",
                "89 = 32 + 1 + 28 + 28: the sizes were added. Numbers fill a tensor like tiles a floor, rows "
                "times columns, so sizes are multiplied.",
            ),
            Option("784", "784 = 28 × 28 is one image. The batch holds 32 of them."),
            Option(
                "25,088",
                "32 × 1 × 28 × 28 = 25,088. The exercise below asks you to write this down as code.",
                right=True,
            ),
            Option(
                "100,352",
                "That is the number of bytes: each float32 takes 4. The numbers themselves are a quarter of it.",
            ),
        ),
    ),
    # Lesson 01
    Question(
        name="width",
        lesson="01",
        text=(
            "A vocabulary has 9 words. A batch of 4 tokens happens to contain the ids 2, 0, 5 and 2. What shape"
            " should its one-hot matrix have?"
        ),
        options=(
            Option(
                "(4, 9)",
                "One row for each token, one column for each word of the vocabulary, whatever this batch contains.",
                right=True,
            ),
            Option(
                "(4, 6)",
                "6 is the largest id plus 1: what F.one_hot guesses when you do not tell it the width. The next "
                "batch would get another width, and no table fits both.",
            ),
            Option("(3, 9)", "Only three different ids, but four tokens: each token gets a row, also a repeated one."),
            Option("(9, 4)", "Then the tokens would be the columns. Each token gets a row."),
        ),
    ),
    Question(
        name="distance",
        lesson="01",
        text=(
            "cat, cats and Tuesday are three words of a vocabulary. Which two one-hot rows are closest to each other?"
        ),
        options=(
            Option(
                "cat and cats",
                "We know that they belong together; the rows do not. Run the next cell and compare the "
                "three distances.",
            ),
            Option("cat and Tuesday", "Nothing in the rows brings these two together. Run the next cell."),
            Option(
                "the two with neighbouring ids",
                "The ids are neighbours, but a row has its 1 in one place or in another: "
                "there is no near or far between places.",
            ),
            Option(
                "none: all three are equally far apart",
                "Each pair differs in exactly two places, so each distance is the square root of 2.",
                right=True,
            ),
        ),
    ),
    Question(
        name="ten_times",
        lesson="01",
        text=(
            "A table of one-hot rows for 5,000 words takes 100 MB in float32. How much does it take for 50,000 words?"
        ),
        options=(
            Option("100 MB", "Both the number of rows and their length grow with the vocabulary."),
            Option("1 GB", "That would hold if only the number of rows grew. Each row gets ten times as long as well."),
            Option("10 GB", "Ten times as many rows, each ten times as long: a hundred times the memory.", right=True),
            Option("1,000 GB", "That would be three factors of ten. A table has two sides."),
        ),
    ),
    # Lesson 02
    Question(
        name="product_or_lookup",
        lesson="02",
        text=(
            "A one-hot row with its 1 in place 3, counted from 0, is multiplied by a table with 6 rows. What comes out?"
        ),
        options=(
            Option(
                "row 3 of the table",
                "Each row of the table is multiplied by 0, except row 3, which is multiplied by 1. The sum "
                "of all is row 3.",
                right=True,
            ),
            Option(
                "column 3 of the table",
                "The row times the table: the 1 meets ROW 3. It would meet a column if the table stood on the left.",
            ),
            Option("the sum of all six rows", "That would take a row of six ones."),
            Option(
                "three times row 1",
                "The 1 is a weight, its place is the id. The id itself, 3, is nowhere among the numbers.",
            ),
        ),
    ),
    Question(
        name="twice_in_a_sentence",
        lesson="02",
        text=(
            "The word 'the' stands twice in a sentence, 'cat' once, 'dog' not at all. If every number of the result"
            " counts the same, how much gradient do their three rows get?"
        ),
        options=(
            Option(
                "the same: all three belong to the table",
                "Only what was used can have an influence on the result. 'dog' was not used.",
            ),
            Option(
                "'the' twice as much as 'cat', 'dog' none",
                "Each use adds its gradient to the row. No use, no gradient.",
                right=True,
            ),
            Option(
                "'the' and 'cat' the same, 'dog' none",
                "'the' was used at two places, and each place passes its gradient on to the same row.",
            ),
            Option(
                "none: a lookup has no gradient",
                "The ids have none, but the rows that were picked do: they are copied into the "
                "result, number for number.",
            ),
        ),
    ),
    Question(
        name="work",
        lesson="02",
        text=(
            "256 tokens, a vocabulary of 50,000 words, vectors of 64 numbers. How many multiplications does the"
            " product of one-hot rows and table take, and how many the lookup?"
        ),
        options=(
            Option(
                "both the same, since the results are equal",
                "The same numbers can be had by more or by less work: nearly all of "
                "those products are 0 times something.",
            ),
            Option(
                "16,384 and none",
                "16,384 = 256 × 64 are the numbers of the result: what the lookup copies. For each of them the "
                "product adds up 50,000 terms.",
            ),
            Option(
                "819,200,000 and 16,384",
                "The first number is right. The lookup copies 16,384 numbers; copying is no multiplication.",
            ),
            Option(
                "819,200,000 and none",
                "T·V·D = 256 × 50,000 × 64 multiplications, all but 16,384 of them by zero. A lookup copies "
                "and multiplies nothing.",
                right=True,
            ),
        ),
    ),
    # Lesson 03
    Question(
        name="neighbours",
        lesson="03",
        text=(
            "'kittens' and 'puppies' never stand in the same sentence of a text. Can a model that only sees neighbours"
            " give them similar vectors?"
        ),
        options=(
            Option(
                "no: it only learns from words that meet",
                "The words need not meet each other. What counts is whether they meet the same third words.",
            ),
            Option(
                "yes, if they have the same neighbours",
                "Both have to predict 'little', 'run', 'these'. The easiest way to do that is with similar vectors.",
                right=True,
            ),
            Option("yes, because they are spelt alike", "The spelling is gone: the model sees ids."),
            Option("only if somebody labels them", "Nobody labels anything here. The text itself is the teacher."),
        ),
    ),
    Question(
        name="two_tables",
        lesson="03",
        text=("Skip-gram keeps two tables, one for words as centres, one for words as contexts. Why does one not do?"),
        options=(
            Option("two tables hold more words", "Both hold a row for each of the same words."),
            Option("it trains faster", "It has twice as many numbers to train."),
            Option(
                "a word hardly ever stands beside itself",
                "With one table the score of a word beside itself is u·u, never negative: the "
                "model could not say that this is unlikely.",
                right=True,
            ),
            Option("one is a copy for safety", "They are different, and both are trained."),
        ),
    ),
    # Lesson 04
    Question(
        name="attention_pairs",
        lesson="04",
        text=(
            "A transformer compares every token with every token. For a 28 × 28 image, how many times fewer pairs"
            " are there with patches of 7 × 7 than with single pixels as tokens?"
        ),
        options=(
            Option(
                "7 times",
                "7 is the side of a patch. There are 49 times fewer tokens, and pairs go with the square of that.",
            ),
            Option(
                "49 times",
                "There are 49 times fewer tokens. But each of them meets every other, so the saving counts twice.",
            ),
            Option(
                "no fewer: the number of pixels is the same",
                "All the pixels are still there, but what meets is tokens: 16 in place of 784.",
            ),
            Option(
                "2,401 times",
                "784² = 614,656 pairs against 16² = 256. 49 × 49 = 2,401: the fourth power of the patch side.",
                right=True,
            ),
        ),
    ),
    Question(
        name="reshape_strips",
        lesson="04",
        text="A 28 × 28 image is reshaped to (16, 49). What does the first of these 16 rows contain?",
        options=(
            Option(
                "the top left 7 × 7 pixels",
                "That would be a tile. A reshape takes the numbers in reading order: a whole row of 28, then the next.",
            ),
            Option(
                "the top row and three quarters of the second",
                "49 = 28 + 21: one row and 21 pixels of the next. 1.75 rows, a strip right across the image.",
                right=True,
            ),
            Option("the first 49 pixels of the top row", "The top row has only 28 pixels."),
            Option("49 pixels from all over the image", "A reshape does not jump: it goes on where it stopped."),
        ),
    ),
    Question(
        name="seven_or_four",
        lesson="04",
        text=(
            "A text cuts patches of 7 × 7 from a 28 × 28 image and says 'stride 4, so we get 16 patches'. What is"
            " wrong?"
        ),
        options=(
            Option("nothing", "With stride 4 the starts are 0, 4, 8, 12, 16 and 20: six on each side, not four."),
            Option(
                "stride 4 gives 36 patches; 16 takes stride 7",
                "Side by side means that the stride is the patch size, 7: four starts on each side. With 4 the patches"
                " overlap.",
                right=True,
            ),
            Option(
                "stride 4 gives 49 patches",
                "28 // 4 = 7 starts would let the last patch hang over the border: a patch is 7 wide, "
                "so the last start is at 21 or before.",
            ),
            Option("the patches must be 4 × 4", "Then 7 × 7 = 49 patches of 16 pixels come out: a different cut."),
        ),
    ),
    # Lesson 05
    Question(
        name="shared_matrix",
        lesson="05",
        text=(
            "144 different patches of 108 numbers, one projection to 64 numbers. How many different vectors come out?"
        ),
        options=(
            Option(
                "1",
                "That would hold if the layer ignored its input. Sharing means that the same weights are used 144 "
                "times, each time on other pixels. Run the next two cells and count the equal pairs.",
            ),
            Option("64", "64 is the length of each vector, not their number."),
            Option(
                "144",
                "Same matrix, other pixels. Here all 144 tokens differ. Equal patches always give equal tokens;"
                " different ones nearly always differ.",
                right=True,
            ),
            Option(
                "108 × 64",
                "That is the number of weights. They are shared, which is why it does not depend on the number of "
                "patches.",
            ),
        ),
    ),
    Question(
        name="table_of_patches",
        lesson="05",
        text=(
            "Grey patches of 7 × 7 pixels, 256 shades each. Could a table hold one row for each possible patch, as"
            " it does for words?"
        ),
        options=(
            Option(
                "yes: 49 × 256 = 12,544 rows",
                "Each pixel can take any shade whatever the others do, so the choices multiply: "
                "256 × 256 × …, 49 times.",
            ),
            Option(
                "yes, with sparse storage",
                "Storage is not the point: a row learns only from its own patch, and most new patches have no row"
                " that ever learned.",
            ),
            Option(
                "no: there are about 10¹¹⁸ patches",
                "256 to the power 49. The universe has about 10⁸⁰ atoms.",
                right=True,
            ),
            Option(
                "no: pixels are no whole numbers",
                "Here they are: 256 shades. There are only too many combinations.",
            ),
        ),
    ),
    Question(
        name="more_patches",
        lesson="05",
        text=(
            "The same layer reads an image with four times as many patches. What happens to the number of weights"
            " of the projection?"
        ),
        options=(
            Option(
                "it stays",
                "The matrix has a row for each number of the result and a column for each number of a patch. N is"
                " in neither.",
                right=True,
            ),
            Option("four times as many", "That would be one matrix for each patch. One serves them all."),
            Option("a quarter", "The patches share the matrix, they do not divide it up."),
            Option(
                "sixteen times as many",
                "Pairs of tokens grow sixteenfold; the projection does not know about pairs.",
            ),
        ),
    ),
    # Lesson 06
    Question(
        name="linear_or_conv",
        lesson="06",
        text=(
            "The paper says 'linear projection of flattened patches', the code has nn.Conv2d(3, 768,"
            " kernel_size=16, stride=16). What is that?"
        ),
        options=(
            Option(
                "a mistake in the code",
                "The numbers that come out are those of the paper's formula. The next cells compare them.",
            ),
            Option(
                "the same map, written in another way",
                "Each kernel meets each patch once and sums products, as a row of the matrix does.",
                right=True,
            ),
            Option(
                "another model: many convolutions look at the image first",
                "There is one convolution here, and each kernel sees one patch and no more. A network of many in"
                " front is called the hybrid: lesson 08.",
            ),
            Option(
                "an approximation that is faster",
                "Nothing is approximated, and which one is faster depends on sizes and machine.",
            ),
        ),
    ),
    Question(
        name="same_count",
        lesson="06",
        text=(
            "A convolution with kernel 4 is moved by a stride of 3 over 8 × 12 pixels. How does it differ from one"
            " with stride 4?"
        ),
        options=(
            Option(
                "it gives fewer tokens",
                "(8 − 4) // 3 + 1 = 2 and (12 − 4) // 3 + 1 = 3: as many as with stride 4.",
            ),
            Option(
                "not at all: both give 6 tokens",
                "The number is the same, but the patches start elsewhere and overlap.",
            ),
            Option(
                "same number of tokens, other values",
                "Two starts down and three across, as with stride 4, but at other pixels. "
                "Counting tokens cannot tell them apart.",
                right=True,
            ),
            Option("it raises an error", "Nothing complains. That is why linear_from_conv has to look."),
        ),
    ),
    Question(
        name="linear_after",
        lesson="06",
        text=(
            "Somebody asks whether a Linear should follow the patch convolution, 'since a projection is missing'."
            " What does it add?"
        ),
        options=(
            Option(
                "two layers in a row can compute more than one",
                "Two affine maps in a row are one affine map, whatever their weights.",
            ),
            Option(
                "nothing that one convolution cannot do",
                "Both can be merged into one convolution with the same result. Only a "
                "nonlinearity between them would change that.",
                right=True,
            ),
            Option(
                "it is needed: a convolution gives no vectors",
                "Flattened and transposed, its result is one vector for each patch.",
            ),
            Option("it halves the parameters", "It adds some: its own matrix and bias."),
        ),
    ),
    # Lesson 07
    Question(
        name="shuffled",
        lesson="07",
        text=(
            "All 16 patches of an image are shuffled before attention without positions. What happens to the results?"
        ),
        options=(
            Option(
                "they are shuffled the same way, and nothing else changes",
                "Every token meets the same others as before, only in another order. Attention does not know orders.",
                right=True,
            ),
            Option("they all change", "That would take something that tells places apart. Nothing does yet."),
            Option("nothing changes at all", "The result of a token moves along with the token."),
            Option("an error", "Shapes are the same as before."),
        ),
    ),
    Question(
        name="same_count_grid",
        lesson="07",
        text=(
            "A table of positions was learned for a 14 × 14 grid. Another image gives a 7 × 28 grid, 196 patches"
            " as well. Can the table be added as it is?"
        ),
        options=(
            Option(
                "yes: both have 196 patches",
                "They fit in number, so nothing complains. But the row of patch 14 was learned for the start of"
                " the second line, and would now stand in the middle of the first.",
            ),
            Option(
                "no: patch 14 would get a wrong place",
                "The table is a picture of 14 × 14 places. It has to be resized to 7 × 28, and so the "
                "grid has to travel with the table.",
                right=True,
            ),
            Option("no: an error stops it", "196 + 1 rows meet 196 + 1 tokens: a plain + does not complain."),
            Option("only without a class token", "The class row fits in both. The grid does not."),
        ),
    ),
    # Lesson 08
    Question(
        name="hybrid_or_not",
        lesson="08",
        text=(
            "A vision transformer begins with nn.Conv2d(3, 768, kernel_size=16, stride=16). Is that the hybrid of"
            " the paper?"
        ),
        options=(
            Option(
                "yes: a convolution is a CNN",
                "A CNN has several layers with something between them that is not affine. The next three"
                " experiments tell the two apart.",
            ),
            Option(
                "yes, but only a small one",
                "It is no smaller hybrid, it is the plain projection: lesson 06 showed it number for number.",
            ),
            Option(
                "no: it should be a Linear",
                "It is no hybrid, but not for that reason: convolution and Linear are the same map here.",
            ),
            Option(
                "no: it is the linear projection",
                "The hybrid of the paper puts a CNN in front and projects patches of its map.",
                right=True,
            ),
        ),
    ),
    Question(
        name="what_is_kept",
        lesson="08",
        text="A trained hybrid is saved to a file. What of the feature maps is in it?",
        options=(
            Option(
                "nothing: only the weights",
                "A map is the value for one image. It is computed anew each time; what was learned are the weights."
                " (Batch norm adds a mean and a spread for each channel, but no map.)",
                right=True,
            ),
            Option(
                "one map for each channel",
                "The number of channels is fixed by the weights, but their values come from the image.",
            ),
            Option(
                "the maps of the training images",
                "They were computed on the way and thrown away. Only the weights stay.",
            ),
            Option(
                "the map of the last image",
                "No value of an image is kept, not even the last one's. Look at the keys of state_dict().",
            ),
        ),
    ),
    # Lesson 09
    Question(
        name="kmeans_error",
        lesson="09",
        text="The two steps are repeated again and again. What does the error do from one round to the next?",
        options=(
            Option(
                "it rises now and then, when patches change their code",
                "A patch changes its code only for a nearer one, and that makes its own error smaller.",
            ),
            Option(
                "it falls to 0, if one waits long enough",
                "With fewer codes than different patches some patches have to share a code, and something is left.",
            ),
            Option(
                "it never rises, and at some time it stays",
                "A nearer code lowers a patch's error, and no other point has smaller squared differences from a group"
                " than its mean. Neither step can do harm.",
                right=True,
            ),
            Option(
                "it stays as it is: only the ids change",
                "The codes move as well, each to the mean of its patches, and so they come nearer to them.",
            ),
        ),
    ),
    Question(
        name="code_bits",
        lesson="09",
        text="A codebook has K = 256 codes of 108 numbers. How many bits does it take to say which code a patch has?",
        options=(
            Option("256", "256 is the number of codes. With 8 bits one can count from 0 to 255."),
            Option(
                "8",
                "2⁸ = 256, so 8 bits name every code: log2 K. The patch itself, 108 numbers of 8 bits, takes 864.",
                right=True,
            ),
            Option("864", "108 numbers of 8 bits: that is the patch itself, not the number of a code."),
            Option("108", "One for each number of the patch? The id names the whole patch at once."),
        ),
    ),
    Question(
        name="choice_gradient",
        lesson="09",
        text=(
            "An encoder makes vectors, each is replaced by its nearest code, and a decoder makes pixels of the"
            " codes. Does the loss of these pixels reach the encoder and the codebook?"
        ),
        options=(
            Option("yes, both", "The only way back to the encoder leads through the ids, and those are whole numbers."),
            Option(
                "the encoder only", "The loss was computed from codes. From the vectors came only the choice of ids."
            ),
            Option("no, neither", "The codes were looked up, and a lookup passes its gradient to the rows it took."),
            Option(
                "the codebook only",
                "A lookup passes the gradient to its rows. argmin passes nothing on: move a vector a little and the"
                " id stays the same.",
                right=True,
            ),
        ),
    ),
    # Lesson 10
    Question(
        name="same_curve",
        lesson="10",
        text=(
            "Two transformers differ only in front: one has nn.Linear on patches, the other nn.Conv2d with the same"
            " numbers. Both are trained on the same batches. What do their losses do?"
        ),
        options=(
            Option(
                "the convolution learns faster",
                "That would take another gradient. Lesson 06 found the same one for both.",
            ),
            Option(
                "they part slowly",
                "In float32 they may, since rounding differs and training amplifies it. In float64 nothing shows.",
            ),
            Option(
                "they stay the same, step by step",
                "Same map, same gradient, same step: nothing that could part them but rounding.",
                right=True,
            ),
            Option("the linear one ends lower", "Both end at the same loss: they are the same map."),
        ),
    ),
    Question(
        name="front_share",
        lesson="10",
        text="ViT-B/16 has 86.6 million parameters. How many of them lie before the first block?",
        options=(
            Option(
                "about half",
                "The blocks have far more: each holds 7.1 million, and there are twelve of them.",
            ),
            Option(
                "about a tenth",
                "The projection has 590,592, class token and positions 152,064: compare that with 86.6 million.",
            ),
            Option(
                "less than a hundredth",
                "742,656 of 86,567,656. What this course is about is a small part of the model, and the one that"
                " decides what it gets to see.",
                right=True,
            ),
        ),
    ),
    Question(
        name="small_data",
        lesson="10",
        text=(
            "A nearest neighbour answers with the label of the training image whose pixels are closest. It learns"
            " nothing. How does it do on these digits?"
        ),
        options=(
            Option(
                "hopeless, near 10 %",
                "Digits of one kind look alike, pixel by pixel, when they are centred and small. The table tells.",
            ),
            Option(
                "about as well as the transformers",
                "1,437 examples cover these small pictures well. On such data a transformer's strength does not show.",
                right=True,
            ),
            Option(
                "about 80 %",
                "It does better: a fifth of the digits wrong would be far too many for pictures that are so alike.",
            ),
        ),
    ),
)
