# Computes every number of results.csv again, from reports.csv and readings.csv. Base R only.
#
#     Rscript reproduce.R [FOLDER]
#
# It ends with status 1 if a number differs.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "."
read_table <- function(name) {
  read.csv(file.path(folder, name), colClasses = "character", encoding = "UTF-8",
           check.names = FALSE, na.strings = character(0))
}
reports <- read_table("reports.csv")
readings <- read_table("readings.csv")
results <- read_table("results.csv")

# The column `what` of readings.csv for each code of one question and answer.
read_codes <- function(question, answer, codes, what) {
  rows <- readings[readings$question == question & readings$answer == answer, ]
  if (rows$box[1] != "") codes <- substr(codes, as.integer(rows$box[1]), as.integer(rows$box[1]))
  found <- match(codes, rows$code)
  if (what %in% c("p", "q", "low", "high")) return(rows[1, what])
  as.numeric(rows[found, what])
}

fraction <- function(text) {
  parts <- as.numeric(strsplit(text, "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}

# Clopper and Pearson's interval.
binomial <- function(yes, n, confidence) {
  tail <- (1 - confidence) / 2
  c(if (yes > 0) qbeta(tail, yes, n - yes + 1) else 0,
    if (yes < n) qbeta(1 - tail, yes + 1, n - yes) else 1)
}

# Robbins' sequence: rates r at which the mixture of likelihoods stays below 1 / alpha.
beta_binomial <- function(yes, n, confidence, k) {
  refuted <- function(r) {
    a <- k * r
    b <- k * (1 - r)
    value <- lgamma(a + yes) - lgamma(a) + lgamma(b + n - yes) - lgamma(b) +
      lgamma(k) - lgamma(k + n) - yes * log(r) - (n - yes) * log1p(-r)
    value >= -log(1 - confidence)
  }
  sapply(c(0, 1), function(outside) {
    inside <- yes / n
    for (i in 1:60) {
      middle <- (inside + outside) / 2
      if (middle > 0 && middle < 1 && refuted(middle)) outside <- middle else inside <- middle
    }
    outside
  })
}

# Ratios r with sum(t - r b)^2 <= z^2 (1 + 8 / n) sum((t - r b)^2).
fieller <- function(top, bottom, confidence) {
  square <- qnorm((1 + confidence) / 2)^2 * (1 + 8 / length(top))
  a <- sum(bottom)^2 - square * sum(bottom^2)
  half <- sum(top) * sum(bottom) - square * sum(top * bottom)
  c0 <- sum(top)^2 - square * sum(top^2)
  kept <- Filter(function(r) a * r * r - 2 * half * r + c0 <= 0, c(0, 1))
  inside <- half^2 - a * c0
  if (inside >= 0 && a != 0) {
    roots <- (half + c(-1, 1) * sqrt(inside)) / a
    kept <- c(kept, roots[roots >= 0 & roots <= 1])
  }
  if (length(kept) == 0) c(NaN, NaN) else range(kept)
}

# Ratios against which no mixture of bets has won 1 / alpha, cell by cell of a grid.
betting <- function(top, bottom, confidence, scale, farthest) {
  one <- ((0:47) + 0.5) / 48 * farthest
  weights <- exp(-(one / scale)^2 / 2)
  stakes <- c(-one, one)
  logs <- log(rep(weights / (2 * sum(weights)), 2))
  pairs <- aggregate(list(n = rep(1, length(top))),
                     list(top = round(top, 12), bottom = round(bottom, 12)), sum)
  kept <- function(edges) {
    capital <- matrix(0, length(stakes), length(edges))
    for (i in seq_len(nrow(pairs))) {
      capital <- capital + pairs$n[i] *
        log1p(outer(stakes, pairs$top[i] - edges * pairs$bottom[i]))
    }
    least <- pmin(capital[, -length(edges)], capital[, -1]) + logs
    greatest <- apply(least, 2, max)
    total <- greatest + log(colSums(exp(sweep(least, 2, greatest))))
    which(total < -log(1 - confidence) + 1e-9)
  }
  ends <- sapply(c(1, 2), function(side) {
    left <- 0
    right <- 1
    for (i in 1:3) {
      edges <- seq(left, right, length.out = 33)
      cells <- kept(edges)
      if (length(cells) == 0) {
        if (left == 0 && right == 1) return(NaN)
        return(if (side == 1) right else left)
      }
      cell <- if (side == 1) cells[1] else cells[length(cells)]
      left <- edges[cell]
      right <- edges[cell + 1]
    }
    if (side == 1) left else right
  })
  range(ends)
}

compute <- function(row) {
  used <- reports[seq_len(as.integer(row$reports)), ]
  used <- used[used[[row$question]] != "", ]
  if (row$answer == "-1") {  # a public number may be declined
    known <- readings$code[readings$question == row$question & readings$answer == "-1"]
    used <- used[used[[row$question]] %in% known, ]
  }
  member <- NULL
  if (row$by != "") {
    used <- used[used[[row$by]] != "", ]
    groups <- readings[readings$question == row$by & readings$answer == row$group, ]
    if (row$share_of == "group" && groups$p[1] == "1" && groups$q[1] == "0") {
      used <- used[as.integer(used[[row$by]]) == as.integer(row$group), ]
    } else {
      member <- read_codes(row$by, row$group, used[[row$by]], "top")
    }
  }
  codes <- used[[row$question]]
  confidence <- as.numeric(row$confidence)
  ask <- function(what) read_codes(row$question, row$answer, codes, what)
  if (row$method %in% c("binomial", "beta-binomial")) {
    p <- fraction(ask("p"))
    q <- fraction(ask("q"))
    yes <- sum(ask("supports"))
    n <- length(codes)
    rates <- if (row$method == "binomial") binomial(yes, n, confidence) else
      beta_binomial(yes, n, confidence, as.numeric(row$tuning_1))
    ends <- sort((rates - q) / (p - q))
    share <- (yes / n - q) / (p - q)
    share <- min(max(share, 0), 1)
    if (ends[2] < 0 || ends[1] > 1) return(c(n, share, NaN, NaN))  # nothing explains them
    return(c(n, share, max(ends[1], 0), min(ends[2], 1)))
  }
  top <- ask("top")
  bottom <- ask("bottom")
  if (!is.null(member)) {
    top <- top * member
    if (row$share_of == "group") bottom <- bottom * member
  }
  ends <- if (row$method == "fieller") fieller(top, bottom, confidence) else
    betting(top, bottom, confidence, as.numeric(row$tuning_1), as.numeric(row$tuning_2))
  share <- if (sum(bottom) > 0) sum(top) / sum(bottom) else 0.5
  low <- as.numeric(ask("low"))
  width <- as.numeric(ask("high")) - low
  c(length(codes), low + width * c(min(max(share, 0), 1), ends))
}

agree <- function(x, y) {
  (is.nan(x) && is.na(y)) || (!is.na(y) && abs(x - y) <= 5e-6 * max(1, abs(y)))
}

wrong <- 0
for (i in seq_len(nrow(results))) {
  row <- results[i, ]
  found <- compute(row)
  stated <- suppressWarnings(as.numeric(c(row$n, row$estimate, row$low, row$high)))
  if (!all(mapply(agree, found, stated))) {
    wrong <- wrong + 1
    cat("differs:", row$question, row$label, row$by, row$group_label, "\n")
    cat("  stated:", stated, "found:", found, "\n")
  }
}
cat(nrow(results) - wrong, "of", nrow(results), "numbers reproduced.\n")
quit(status = if (wrong > 0) 1 else 0)
