# frozen_string_literal: true

# Scales a recipe written in plain text: "250 g flour", "2 eggs", "1/2 tsp salt".
module RecipeScaler
  Ingredient = Struct.new(:amount, :unit, :name) do
    def *(factor)
      self.class.new(amount && amount * factor, unit, name)
    end

    def to_s
      [format_amount, unit, name].compact.reject(&:empty?).join(" ")
    end

    private

    def format_amount
      return nil unless amount

      whole, rest = amount.divmod(1)
      return whole.to_s if rest.zero?

      fraction = rest.rationalize(Rational(1, 16))
      whole.zero? ? fraction.to_s : "#{whole} #{fraction}"
    end
  end

  UNITS = %w[g kg ml l tsp tbsp cup cups pinch].freeze
  LINE = %r{\A(?<amount>\d+(?:\s+\d+/\d+|/\d+|\.\d+)?)?\s*(?<rest>.*)\z}

  module_function

  def parse(line)
    match = LINE.match(line.strip)
    words = match[:rest].split
    unit = UNITS.include?(words.first) ? words.shift : ""
    Ingredient.new(to_number(match[:amount]), unit, words.join(" "))
  end

  def to_number(text)
    text&.split&.sum { |part| Rational(part) }
  end

  def scale(text, from:, to:)
    factor = Rational(to, from)
    text.lines.map { |line| (parse(line) * factor).to_s }.join("\n")
  end
end

if __FILE__ == $PROGRAM_NAME
  recipe = <<~TEXT
    250 g flour
    2 eggs
    1 1/2 cups milk
    1/2 tsp salt
    butter for the pan
  TEXT
  puts RecipeScaler.scale(recipe, from: 4, to: 6)
end
